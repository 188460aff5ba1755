"""What visitors leave behind is bounded: their state, their runs, and what nobody came to hear."""

import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from http_client import Client, last_value

from playground.build import build_page, launch_options
from playground.models.text import LoadedModel
from playground.page import bar, unheard
from playground.page.runs import RunStore

STATES, RUN_BYTES = 5, 3_000_000
CONTROLS = {"max_new_tokens": 12, "temperature": 0}


@pytest.fixture(scope="module")
def served(chat: LoadedModel) -> Iterator[SimpleNamespace]:
    """The whole page with little room, so that a few visitors fill it."""
    patch = pytest.MonkeyPatch()
    patch.setattr(bar, "RunStore", lambda: RunStore(most_bytes=RUN_BYTES))
    demo = build_page({chat.name: chat}).queue(api_open=False)
    options = launch_options() | {"state_session_capacity": STATES}
    app, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, **options)
    patch.undo()
    generate = next(each for each in demo.fns.values() if len(each.inputs) == 4 and each.queue)
    yield SimpleNamespace(app=app, url=url, queue=demo._queue, event=generate._id, model=chat.name)
    demo.close()


def press(served: SimpleNamespace, listen: bool = True) -> Client:
    client = Client(served.url)
    assert client.join(served.event, served.model, "Hello", CONTROLS, 1)[0] == 200
    if listen:
        assert last_value(client.listen())["job"]["state"] == "done"
    return client


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_thirty_sessions_more_leave_no_more_than_the_first(served: SimpleNamespace):
    """3.2 MB of each were kept for ever: Gradio remembers 10,000 visitors, closed tabs too."""
    for _ in range(12):
        press(served)
    before = resident_bytes()
    for _ in range(30):
        press(served)
    assert resident_bytes() - before < 30 * 250_000
    assert len(served.app.state_holder.session_data) <= STATES


def test_what_nobody_hears_is_dropped(served: SimpleNamespace, monkeypatch: pytest.MonkeyPatch):
    """100 runs whose stream nobody opened stayed: 335 MB."""
    monkeypatch.setattr(unheard, "UNHEARD_SECONDS", 0.3)
    monkeypatch.setattr(unheard, "LOOK_SECONDS", 0.0)
    silent = [press(served, listen=False).session for _ in range(3)]
    pause = threading.Event()
    for _ in range(200):
        press(served)  # one after the other looks, and all of them hear their own
        if not set(silent) & set(served.queue.pending_messages_per_session):
            break
        pause.wait(0.1)
    assert not set(silent) & set(served.queue.pending_messages_per_session)
    assert not set(silent) & set(served.queue.pending_event_ids_session)
    assert not [each for each in served.queue.event_ids_to_events.values() if each.session_hash in silent]
