"""What Gradio keeps for a listener is dropped when nobody listens: a program that asks and goes away, a lost tab.

Gradio holds the messages of an event, a whole run among them, until its stream is read, for up to 2,000 visitors.
"""

import re
import time
from urllib.parse import parse_qs

from gradio.queueing import Queue
from starlette.types import ASGIApp, Receive, Scope, Send

UNHEARD_SECONDS = 30.0  # a page opens its stream at once; somebody at a shell needs a moment
LOOK_SECONDS = 2.0  # not at every request
STREAM = re.compile(
    r".*/gradio_api/(?:queue/data|call/[^/]+/(?P<event>[^/]+))"
)  # an event asked for alone is its visitor


class Unheard:
    """ASGI middleware. It looks when somebody asks for something: while nobody does, nothing grows."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.listening: dict[str, int] = {}  # streams that are open, by visitor
        self.silent_since: dict[str, float] = {}  # of those who have messages and no open stream
        self.looked_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] == "POST" and time.monotonic() - self.looked_at > LOOK_SECONDS:
            self.looked_at = time.monotonic()
            await self.drop(scope["app"].get_blocks()._queue, self.looked_at)
        stream = STREAM.fullmatch(scope["path"]) if scope["method"] == "GET" else None
        if stream is None:
            await self.app(scope, receive, send)
            return
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        visitor = stream["event"] or asked.get("session_hash", [""])[0]
        self.listening[visitor] = self.listening.get(visitor, 0) + 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.listening[visitor] -= 1
            if not self.listening[visitor]:
                del self.listening[visitor]

    async def drop(self, queue: Queue, now: float) -> None:
        """The messages of those who have not listened for a while, and their events, which end at the next value."""
        asked_at = {event.session_hash: event.enqueue_time for event in queue.event_ids_to_events.values()}
        waiting = [each for each in queue.pending_messages_per_session if each not in self.listening]
        self.silent_since = {
            visitor: max(self.silent_since.get(visitor, now), asked_at.get(visitor, 0.0)) for visitor in waiting
        }
        for visitor, since in list(self.silent_since.items()):
            if now - since > UNHEARD_SECONDS:
                del self.silent_since[visitor]
                await queue.clean_events(session_hash=visitor)  # first: who still works would miss his messages
                queue.pending_messages_per_session.pop(visitor, None)
                queue.pending_event_ids_session.pop(visitor, None)
