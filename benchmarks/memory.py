"""What a class leaves in the server's memory: `python -m benchmarks.memory [first] [all] [unheard]`, 100 400 100 if not
given.

Each visitor is a new session that presses Generate over HTTP and hears the whole answer; the last ones press it and
never listen. What counts is the memory of the process after `first` sessions, when everything has been used and its
stores are full, against that after `all` of them and after the unheard ones. One JSON line; 1 for the shell where the
server has grown by more than LIMIT_MB.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
sys.path.append(str(REPOSITORY / "tests"))
from http_client import Client, last_value  # noqa: E402

from playground.page.controls import DEFAULTS  # noqa: E402
from playground.page.unheard import LOOK_SECONDS, UNHEARD_SECONDS  # noqa: E402

LIMIT_MB = 150
PROMPT = "What should I do today?"


def main(first: int = 100, all_sessions: int = 400, unheard: int = 100) -> int:
    with server() as (url, pid):
        press = Press(url)
        start = resident_mb(pid)
        for _ in range(first):
            press.and_listen()
        full = resident_mb(pid)
        for _ in range(all_sessions - first):
            press.and_listen()
        later = resident_mb(pid)
        for _ in range(unheard):
            press.and_leave()
        time.sleep(UNHEARD_SECONDS + LOOK_SECONDS)
        for _ in range(2):  # who asks next finds that nobody has listened
            press.and_listen()
            time.sleep(LOOK_SECONDS)
        dropped = resident_mb(pid)
    growth = max(later, dropped) - full
    print(
        json.dumps(
            {
                "figure": "memory of the server in MB, resident",
                "when it starts": round(start),
                f"after {first} sessions": round(full),
                f"after {all_sessions}": round(later),
                f"after {unheard} more that nobody heard": round(dropped),
                "growth": round(growth),
                "limit": LIMIT_MB,
                "conditions": f"{DEFAULTS['max_new_tokens']} new tokens, one session after another",
            }
        )
    )
    return int(growth > LIMIT_MB)


class Press:
    """Generate, as the page asks for it."""

    def __init__(self, url: str) -> None:
        self.url = url
        config = Client(url).get("/config")
        value = {each["id"]: each["props"].get("value") for each in config["components"]}
        names = {each["props"].get("elem_id"): each["id"] for each in config["components"]}
        wanted = [names["model"], names["prompt"], names["controls"]]
        event = next(each for each in config["dependencies"] if each["inputs"][:3] == wanted and each["queue"])
        self.event, self.values = event["id"], [value[names["model"]], PROMPT, DEFAULTS, 1]

    def and_listen(self) -> None:
        client = Client(self.url)
        status, answer = client.join(self.event, *self.values)
        assert status == 200, answer
        value = last_value(client.listen())
        assert value["job"]["state"] == "done" and value["logits"], value["job"]

    def and_leave(self) -> None:
        assert Client(self.url).join(self.event, *self.values)[0] == 200


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """The page in a process of its own, on a free port: its address and its number."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = [sys.executable, "-m", "playground", "--port", str(port)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(arguments, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(port))
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(20)


def answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def until(condition: Callable[[], bool], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.1)


def resident_mb(pid: int) -> float:
    """Of a process under Linux."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
