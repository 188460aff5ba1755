"""Binds work to the page's events: a place in the line, and what the page is told until it ends.

What a panel hears, under "job" in its value: {"number", "state"}, the state being queued (with "ahead"), running (with
"progress", if known), then one of done, stopped (with "gave_way" if not by the visitor), failed (with "problem", one
sentence). jobs.js says it in words.
"""

import inspect
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import state_holder
from gradio.context import LocalContext
from gradio.events import Dependency
from pydantic import TypeAdapter

from playground.page.line import DONE, STOPPED, Line, Work
from playground.page.requests import checked_values, types_of

# What comes in is checked here and not by Gradio's components, whose errors are tracebacks and not sentences.
QUIET = {"show_progress": "hidden", "api_visibility": "private", "preprocess": False}
_NUMBERED = """(...all) => {{
  {before}
  return [...all.slice(0, {count}), (window.jobNumber = (window.jobNumber ?? 0) + 1)];
}}"""
_NEWEST = "() => [window.jobNumber ?? 0]"


class Jobs:
    """Binds work to the page's events. Made inside gr.Blocks."""

    def __init__(self, line: Line | None = None) -> None:
        self.line = Line() if line is None else line  # in front of the models
        self.loads = Line()  # of models that visitors load, while others go on with theirs
        self._number = gr.HTML(visible=False)  # carries the number of a request that a button makes

    def on(
        self,
        triggers: Callable | Sequence[Callable],
        work: Callable[..., Work],
        inputs: gr.components.Component | Sequence[gr.components.Component] = (),
        outputs: gr.components.Component | Sequence[gr.components.Component] = (),
        *,
        name: str,
        long: bool = False,
        joins: bool = False,
        asks: bool = False,
        told: int = 1,
        line: Line | None = None,
        js: str | None = None,
        trigger_mode: str | None = None,
    ) -> Dependency:
        """Runs `work(*values of the inputs)` in the line; they are of the types that its hints name. Work that keeps
        something takes `visitor` too, by name only.

        The first output, or as many as `told` says, are panels that hear of the job. Work yields a dict for the first,
        or a tuple with a value for each output, None for those that stay. asks: the first input is a panel that has put
        "number" into its question. joins: it goes on together with others that do. line: another one than that in front
        of the models. js: a function that the page calls when the event happens.
        """
        inputs = list(inputs) if isinstance(inputs, Sequence) else [inputs]
        outputs = list(outputs) if isinstance(outputs, Sequence) else [outputs]
        types, line = types_of(work, len(inputs)), self.line if line is None else line

        async def run(request: gr.Request, *values: Any) -> AsyncIterator[Any]:
            question = values[0] if asks and isinstance(values[0], dict) else {}
            given, number = (values, question.get("number")) if asks else (values[:-1], values[-1])
            visitor = visitor_of(request)
            made = _made(work, types, given, visitor)
            news = line.told(made, visitor, _number(number), name, long, joins, asks)
            async with aclosing(_sent(news, outputs, told)) as sent:
                async for each in sent:
                    yield each

        numbered = {} if asks else {"js": _NUMBERED.format(count=len(inputs), before=f"({js})();" if js else "")}
        bind = partial(gr.on, triggers) if isinstance(triggers, Sequence) else triggers
        return bind(
            run,
            inputs if asks else [*inputs, self._number],
            outputs,
            concurrency_limit=None,
            trigger_mode=trigger_mode,
            **numbered,
            **QUIET,
        )

    def stop(self, button: gr.Button, *names: str) -> Dependency:
        """The button ends what this visitor has asked for until now: all of it, or only work of these names."""

        async def on_stop(request: gr.Request, number: Any) -> None:
            self.line.stop(visitor_of(request), _number(number), names or ("",))

        return button.click(on_stop, self._number, None, js=_NEWEST, queue=False, **QUIET)


def spare_gradio(demo: gr.Blocks) -> None:
    """What Gradio looks up again for every value that it sends, and what takes longer than the value, it finds here."""
    for kind in {type(block) for block in demo.blocks.values()}:
        kind.__init__.__signature__ = inspect.signature(kind.__init__)  # for a new session: of each component
    if find_spec("matplotlib") is None:
        sys.modules.setdefault("matplotlib", None)  # "not there", without a look at the disk
    state_holder.SessionState = _Session


class _Session(state_holder.SessionState):
    """Keeps no settings and values of the page's components: a tenth of a second and half a megabyte for each visitor.

    Gradio makes deep links of them, which guard.py has shut.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks={}))

    def _update_config(self, key: int) -> None: ...

    def _update_value_in_config(self, key: int, value: Any) -> None: ...


def _made(work: Callable[..., Work], types: TypeAdapter, values: Sequence[Any], visitor: str) -> Work:
    """The work, not begun: what is wrong with the request is found in the line too."""
    own = {"visitor": visitor} if "visitor" in inspect.signature(work).parameters else {}  # what it keeps is his
    return (yield from work(*checked_values(types, values), **own))


async def _sent(news: AsyncGenerator, outputs: Sequence[gr.components.Component], told: int) -> AsyncIterator[Any]:
    """What Gradio takes for the outputs, whenever there is news of a job: (job, what its work gave)."""
    said = [None] * told
    async with aclosing(news):
        async for job, payload in news:
            values = list(payload) if isinstance(payload, tuple) else [payload, *[None] * (len(outputs) - 1)]
            said = [old if new is None else new for old, new in zip(said, values[:told], strict=True)]
            if job["state"] in (DONE, STOPPED):
                # The page draws once a frame: of two values that come closer together it hears the second.
                values[:told] = said
            values[:told] = [{**(each or {}), "job": job} for each in values[:told]]
            sent = [_enclosed(*pair) for pair in zip(outputs, values, strict=True)]
            yield sent[0] if len(sent) == 1 else tuple(sent)
    # Gradio sends the last values of a generator once more when it has ended: there is nothing in these.
    ended = [gr.skip() if isinstance(output, gr.HTML) else each for output, each in zip(outputs, sent, strict=True)]
    yield ended[0] if len(ended) == 1 else tuple(ended)


def _enclosed(output: gr.components.Component, value: Any) -> Any:
    """A panel's value in a list, which main.js opens; None stays what it was.

    Gradio sends what has changed, and its script changes the object that the page was given before. An empty update
    after an object would so take out of it what nobody has looked at yet; a list it can only replace.
    """
    if value is None:
        return gr.skip()
    return [value] if isinstance(output, gr.HTML) else value


def visitor_of(request: gr.Request) -> str:
    return request.session_hash or "nobody"


def has_left(request: gr.Request) -> bool:
    """Has the tab been closed that asked for this event? Gradio ends a generator then, and no other handler."""
    blocks = LocalContext.blocks.get()
    running = [event for events in blocks._queue.active_jobs if events for event in events] if blocks else []
    own = [event for event in running if event.session_hash == request.session_hash]
    return bool(own) and not any(event.alive for event in own)


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
