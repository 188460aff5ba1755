"""A class at one server: simulated students, who ask over HTTP as the page does, and check every answer.

The server is a process of its own, the students are another one on the same machine. A student thinks, then presses
Generate or, one time in three, asks for thirty answers. Beside them one person starts one long race after another.
`python -m benchmarks.class_load 600 100` lets a hundred students go on for ten minutes.

The class has fifteen questions, so most sets of thirty answers have been sampled before and come from KeptAnswers; the
figures say how many. `python -m benchmarks.class_load 600 100 unkept` samples each of them.
"""

import asyncio
import os
import random
import re
import socket
import subprocess
import sys
import time
import uuid
from base64 import b64decode
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import orjson

from benchmarks.__main__ import report
from benchmarks.measure import Figure
from playground.engine.generation import generate, timed
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.tabs.thirty_answers.answers import sample_answer_set

CLASSES = ((100, 45.0), (300, 30.0))  # students, seconds
PATIENCE = 30.0  # seconds without a word, and an answer is lost
FAULTS = (RuntimeError, OSError, ValueError, TimeoutError, asyncio.IncompleteReadError)
THOUGHT = 2.0  # seconds between an answer and the next question, 1 to 3 at random
PROMPTS = (
    "What should I do today?",
    "Tell me a story about a dragon.",
    "Name three animals.",
    "My name is Zoltan. What is my name?",
    "Write a sentence about a dog, a cat, and the house in which both of them live, and tell me who sleeps where.",
    "Why?",
)
SETTINGS = ({}, {"temperature": 0.7}, {"top_p": 0.9}, {"top_k": 20, "temperature": 1.3}, {"repetition_penalty": 1.2})
ROUNDING = 1e-3  # of a logit: side by side sums are added in another order
LONG_PROMPT, LONG_NEW = "once upon a time there was a little dog " * 110, 256  # of the race
GOALS = {"p50": 3.0, "p95": 6.0}  # seconds for Generate, 100 students
BEFORE = {"p50": 15.0, "p95": 21.0}  # with one answer after the other
MOST_GROWTH = 150.0  # MB
MODEL = "minimind-chat"
# As `python -m playground` does, without Gradio's asking whether the page is there: it gives up after three seconds.
SERVE = """
import sys
from playground.__main__ import build, launch_options
from playground.tabs.thirty_answers.kept_answers import KeptAnswers
if sys.argv[3] == "unkept":
    KeptAnswers.most_bytes = 0
build(first=sys.argv[1]).launch(server_port=int(sys.argv[2]), _frontend=False, quiet=True, **launch_options())
"""


@dataclass
class Seen:
    """What the class saw."""

    generate: list[float] = field(default_factory=list)  # seconds from the press to the whole answer
    answers: list[float] = field(default_factory=list)  # the same for thirty answers
    first_sign: list[float] = field(default_factory=list)  # seconds until it was told the place in line, or more
    sampled: set[float] = field(default_factory=set)  # seconds that thirty answers took, which come with them
    kept: int = 0  # sets of thirty answers that had been sampled before
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    races: int = 0


@dataclass(frozen=True)
class Question:
    prompt: str
    controls: dict
    logits: np.ndarray  # (N, V) of the run alone
    token_ids: list[int]
    answers: list[str]  # the thirty, alone


def questions(loaded: LoadedModel, count: int = 15) -> list[Question]:
    """With the answers of a single user."""
    made = []
    for number in range(count):
        prompt, settings = PROMPTS[number % len(PROMPTS)], SETTINGS[number % len(SETTINGS)]
        params = SamplingParams(**settings, seed=number)
        ids = loaded.prompt_ids(prompt)
        trace = Trace.record(timed(generate(loaded.model, ids, params, None, 64, loaded.stop_ids)))
        texts = [answer.text for answer in sample_answer_set(loaded, prompt, params).answers]
        controls = asdict(params) | {"max_new_tokens": 64}
        made.append(Question(prompt, controls, trace.logits.numpy(), trace.token_ids, texts))
    return made


# ---- one tab over HTTP


class Tab:
    """Joins the queue, and reads all that it has asked for from one stream, as the page does."""

    def __init__(self, port: int) -> None:
        self.port, self.session, self.number = port, uuid.uuid4().hex, 0
        self._heard: dict[str, asyncio.Queue] = defaultdict(asyncio.Queue)  # messages of each event under way
        self._listening: asyncio.Task | None = None

    async def ask(self, fn_index: int, data: list) -> AsyncIterator[Any]:
        """The values of the first output, as they come. Raises RuntimeError where the server refuses."""
        body = orjson.dumps({"data": data, "fn_index": fn_index, "session_hash": self.session})
        status, reply = await self._request("POST", "/gradio_api/queue/join", body)
        if status != 200:
            raise RuntimeError(f"refused with {status}: {reply[:200]!r}")
        event, value = orjson.loads(reply)["event_id"], None
        heard = self._heard[event]
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        try:
            while True:
                message = await asyncio.wait_for(heard.get(), PATIENCE)
                if message["msg"] == "process_completed":
                    if not message["success"]:
                        raise RuntimeError(f"failed: {message['output']}")
                    return
                if message["msg"] == "process_generating":
                    given = message["output"]["data"][0]
                    value = given if value is None else changed(value, given)
                    if isinstance(value, list):
                        yield value[0]
                if message["msg"] in ("unexpected_error", "close_stream"):
                    raise RuntimeError(f"the stream ended before the answer did: {message}")
        finally:
            del self._heard[event]

    async def _listen(self) -> None:
        """Until nothing is asked for any more. The server ends a stream when it owes nothing; a question that crossed
        with that is heard on the next one."""
        try:
            while self._heard:
                async for message in self._messages():
                    if message["msg"] == "close_stream":
                        break
                    if message.get("event_id"):
                        self._heard[message["event_id"]].put_nowait(message)
        except FAULTS as error:
            for heard in self._heard.values():
                heard.put_nowait({"msg": "unexpected_error", "problem": str(error)})

    def next_number(self) -> int:
        self.number += 1
        return self.number

    async def _open(self, method: str, path: str, body: bytes = b"") -> tuple[asyncio.StreamReader, Any]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**24)
        host = f"127.0.0.1:{self.port}"
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        return reader, writer

    async def _request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        reader, writer = await self._open(method, path, body)
        try:
            head, _, content = (await reader.read()).partition(b"\r\n\r\n")
            if not head:
                raise RuntimeError("the server hung up")
            return int(head.split()[1]), content
        finally:
            writer.close()

    async def _messages(self) -> AsyncIterator[dict]:
        reader, writer = await self._open("GET", f"/gradio_api/queue/data?session_hash={self.session}")
        try:
            await reader.readuntil(b"\r\n\r\n")
            while size := int(await reader.readline(), 16):  # each chunk is one message
                text = await reader.readexactly(size + 2)
                if text.startswith(b"data: "):
                    yield orjson.loads(text[6:-2])
        finally:
            writer.close()


def changed(value: Any, edits: list) -> Any:
    """As Gradio's script does it: the first value comes whole, and of later ones what has changed."""
    for action, path, new in edits:
        if not path:
            value = value + new if action == "append" else new
            continue
        *way, last = path
        inner = value
        for step in way:
            inner = inner[step]
        if action == "delete":
            del inner[last]
        elif action == "append":
            inner[last] += new
        elif action == "add" and isinstance(inner, list):
            inner.insert(last, new)
        else:
            inner[last] = new
    return value


# ---- the class


async def student(port: int, events: dict, known: list[Question], seed: int, end: float, seen: Seen) -> None:
    chance, tab = random.Random(seed), Tab(port)
    await asyncio.sleep(chance.uniform(0, THOUGHT))
    while time.perf_counter() < end:
        act = generated if chance.random() < 2 / 3 else thirty
        await act(tab, events, chance.choice(known), seen)
        await asyncio.sleep(chance.uniform(THOUGHT / 2, 3 * THOUGHT / 2))


async def generated(tab: Tab, events: dict, question: Question, seen: Seen) -> None:
    data = [MODEL, question.prompt, question.controls, tab.next_number()]
    run = await timed_answer(tab, events["generate"], data, seen.generate, seen)
    if run is None:
        return
    if run.get("token_ids") != question.token_ids:
        seen.wrong.append(f"{question.prompt} {question.controls}: {run.get('job')}")
        return
    logits = np.frombuffer(b64decode(run["logits"]), "<f4").reshape(question.logits.shape)
    if np.abs(logits - question.logits).max() > ROUNDING:
        seen.wrong.append(f"logits of {question.prompt} {question.controls}")


async def thirty(tab: Tab, events: dict, question: Question, seen: Seen) -> None:
    asked = {"model": MODEL, "prompt": question.prompt, "params": question.controls, "number": tab.next_number()}
    value = await timed_answer(tab, events["answers"], [asked], seen.answers, seen)
    if value is None:
        return
    seen.kept += value.get("seconds") in seen.sampled
    seen.sampled.add(value.get("seconds"))
    groups = value["views"]["tokens"]["rows"] if "views" in value else ()
    texts = {row: group["text"] for group in groups for row in group["rows"]}
    if [texts.get(row) for row in range(len(question.answers))] != question.answers:
        seen.wrong.append(f"thirty answers to {question.prompt} {question.controls}: {value.get('job')}")


async def timed_answer(tab: Tab, event: int, data: list, seconds: list[float], seen: Seen) -> dict | None:
    """What came last, None where it is lost."""
    start, told, last = time.perf_counter(), None, None
    try:
        async for value in tab.ask(event, data):
            last, told = value, told or time.perf_counter() - start
    except FAULTS as error:
        seen.lost.append(repr(error))
        return None
    seconds.append(time.perf_counter() - start)
    seen.first_sign.append(told)
    return last


async def racer(port: int, events: dict, end: float, seen: Seen) -> None:
    """One person beside the class: a race of a prompt near the end of the model's positions."""
    controls = {"max_new_tokens": LONG_NEW}
    while time.perf_counter() < end:
        tab = Tab(port)
        async for _ in tab.ask(events["race-start"], [MODEL, LONG_PROMPT, controls, True, tab.next_number()]):
            if time.perf_counter() > end:
                return
        seen.races += 1


async def attend(port: int, events: dict, known: list[Question], students: int, seconds: float) -> Seen:
    seen, end = Seen(), time.perf_counter() + seconds
    race = asyncio.create_task(racer(port, events, end, seen))
    await asyncio.gather(*(student(port, events, known, number, end, seen) for number in range(students)))
    race.cancel()
    await asyncio.gather(race, return_exceptions=True)
    return seen


# ---- the server


@contextmanager
def server(keeping: str = "kept") -> Iterator[tuple[int, int]]:
    """Its port and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", SERVE, MODEL, str(port), keeping]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                time.sleep(0.1)
                with socket.socket() as knock:
                    if knock.connect_ex(("127.0.0.1", port)) == 0:
                        break
            else:
                raise RuntimeError("the server did not start within a minute")
            yield port, process.pid
        finally:
            process.terminate()


def megabytes(pid: int) -> float:
    """Resident memory of a process."""
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024


async def find_events(port: int) -> dict[str, int]:
    """The numbers that this page gives its events, as its script finds them."""
    status, text = await Tab(port)._request("GET", "/config")
    if status != 200:
        raise RuntimeError(f"/config answers {status}")
    config = orjson.loads(text)
    ids = {each["props"].get("elem_id"): each["id"] for each in config["components"]}
    asking = [each["id"] for each in config["components"] if '"thirty_answers/asking"' in str(each["props"])]
    wanted = {name: [ids[name], "click"] for name in ("generate", "race-start")} | {"answers": [*asking, "asked"]}
    return {
        name: next(event["id"] for event in config["dependencies"] if target in event["targets"])
        for name, target in wanted.items()
    }


# ---- the figures


def figures(classes: Sequence[tuple[int, float]] = CLASSES, keeping: str = "kept") -> Iterator[Figure]:
    known = questions(load_model(MODEL))
    with server(keeping) as (port, pid):
        events = asyncio.run(find_events(port))
        for students, seconds in classes:
            memory, used, start = megabytes(pid), processor_seconds(pid), time.perf_counter()
            seen = asyncio.run(attend(port, events, known, students, seconds))
            used, took = processor_seconds(pid) - used, time.perf_counter() - start
            yield from told(students, took, seen, memory, megabytes(pid), used)


def processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def told(students: int, took: float, seen: Seen, before: float, after: float, used: float) -> Iterator[Figure]:
    under = f"{students} students, {THOUGHT:g} s of thought, {took:.0f} s, on the same {os.cpu_count()} cores"
    num = len(seen.generate) + len(seen.answers)

    def figure(name: str, ours: float, peer: float = 0.0, most: float | None = None) -> Figure:
        ratio = float(f"{peer / ours if ours else 0:.4g}")
        goal, holds = ("none", True) if most is None else (f"ours <= {most:g}", ours <= most)
        return Figure(name, float(f"{ours:.4g}"), peer, ratio, (ratio, ratio), goal, holds, 1, under)

    goals = GOALS if students <= 100 else {}
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        peer = BEFORE[name] if students == 100 else 0.0
        yield figure(
            f"Generate, {name}, s, against one answer after the other", at(seen.generate, share), peer, goals.get(name)
        )
        yield figure(f"thirty answers, {name}, s", at(seen.answers, share))
        yield figure(f"the first sign after a press, {name}, s", at(seen.first_sign, share))
    yield figure("model events a second", num / took, 5.3 if students == 100 else 0.0)
    yield figure("processor time of the server for an event, ms", 1000 * used / max(num, 1))
    yield figure(f"sets of thirty answers of {len(seen.answers)} that had been sampled before", seen.kept)
    yield figure("long races that ended meanwhile", seen.races)
    yield figure(f"wrong answers of {num}", len(seen.wrong), most=0)
    yield figure(f"lost answers of {num}", len(seen.lost), most=0)
    most = before + MOST_GROWTH if students > 100 else None  # a smaller class was there before
    yield figure("memory of the server, MB, against before the class", after, before, most)
    for problem in (*seen.wrong[:3], *seen.lost[:3]):
        print(problem, file=sys.stderr)


def at(values: list[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def main(seconds: str = "600", students: str = "100", keeping: str = "kept") -> int:
    return report(figures([(int(students), float(seconds))], keeping))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
