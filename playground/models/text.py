"""Text in, text out: a loaded model answers, and what it recorded can be read, plotted and shown in a notebook."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from playground import numbers, style
from playground.engine.arguments import whole_number
from playground.engine.generation import STOP_TOKEN, Decoder, LogitsProcessor, Step, generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.answers import Answer, at_once, write_answers
from playground.models.figure import Figure, answer_figure
from playground.models.tables import candidates_table, steps_table, trace_frame
from playground.models.template import ChatTemplate, Turn, as_turns, last_text
from playground.models.tokenizer import Tokenizer
from playground.words import say

Prompt = str | Sequence[Turn]  # a text, or a conversation that ends with the turn to answer


@dataclass(frozen=True)
class LoadedModel:
    name: str
    model: Decoder
    tokenizer: Tokenizer
    is_chat: bool
    stop_ids: tuple[int, ...]
    trained_length: int  # tokens; further positions were never trained
    template: ChatTemplate = field(default_factory=ChatTemplate)  # of a chat model
    first_ids: tuple[int, ...] = ()  # what a base model's texts begin with

    def prompt_ids(self, prompt: Prompt) -> list[int]:
        """A chat model gets a text as a user's turn, and a conversation, by its own template; a base model gets a text
        as it is. Raises ValueError for an empty prompt, or a conversation that this model can't be given."""
        text = last_text(prompt)
        if self.is_chat:
            return self.tokenizer.encode_parts(self.template.parts(as_turns(prompt)))
        if not isinstance(prompt, str):
            raise ValueError(say("models.template.none", model=self.name))
        return [*self.first_ids, *self.tokenizer.encode_plain(text)]

    def steps(
        self,
        prompt: Prompt,
        params: SamplingParams | None = None,
        cache: KVCache | None = None,
        max_new_tokens: int = 64,
        stop_ids: Sequence[int] | None = None,
        logits_processors: Sequence[LogitsProcessor] = (),
    ) -> Iterator[Step]:
        """As `playground.generate`, for a text or a conversation; `stop_ids` are the model's own unless given."""
        ends = self.stop_ids if stop_ids is None else stop_ids
        ids = self.prompt_ids(prompt)
        return generate(self.model, ids, params, cache, max_new_tokens, ends, (), logits_processors)

    def generate(self, prompt: Prompt, params: SamplingParams | None = None, **options) -> "TextTrace":
        """The whole answer, with every step recorded. Further options as of `steps`."""
        pairs = list(timed(self.steps(prompt, params, **options)))
        return TextTrace([step for step, _ in pairs], [seconds for _, seconds in pairs], self, last_text(prompt))

    def stream(self, prompt: Prompt, params: SamplingParams | None = None, **options) -> Iterator[tuple[str, Step]]:
        """The text that each step adds, and the step; "" while a character is incomplete, also where the answer ends in
        the middle of one. Options as of `steps`."""
        said: list[Step] = []

        def token_ids() -> Iterator[int]:
            for step in self.steps(prompt, params, **options):
                said.append(step)
                yield step.token_id

        for piece in self.tokenizer.stream(token_ids()):
            yield piece, said.pop()

    def answers(
        self,
        prompt: Prompt,
        params: SamplingParams | None = None,
        n: int = 30,
        max_new_tokens: int = 64,
        stop_ids: Sequence[int] | None = None,
        logits_processors: Sequence[LogitsProcessor] = (),
    ) -> list[Answer]:
        """n answers, each with its probability; the first is that of `generate`."""
        ends = self.stop_ids if stop_ids is None else stop_ids
        settings = [params or SamplingParams()]
        request = self.prompt_ids(prompt), settings, n, max_new_tokens, ends, logits_processors
        return at_once(write_answers(self.model, self.tokenizer, *request))[0]

    @cached_property
    def labels(self) -> list[str]:
        """Of every id that the model knows, as a picture shows it; ids that the tokenizer lacks are named so."""
        spare = range(self.tokenizer.vocab_size, self.model.config.vocab_size)
        return [*self.tokenizer.labels(), *(say("models.tokenizer.unused", id=token_id) for token_id in spare)]

    @cached_property
    def token_bytes(self) -> list[str]:
        """Of every id, in hexadecimal."""
        raw = [self.tokenizer.token_bytes(token_id).hex(" ") for token_id in range(self.tokenizer.vocab_size)]
        return [*raw, *("" for _ in range(self.tokenizer.vocab_size, self.model.config.vocab_size))]


class TextTrace(Trace):
    """A recorded run that knows its words. In a notebook it shows itself: the answer, shaded, and a row a step."""

    def __init__(self, steps: Sequence[Step], seconds: Sequence[float], loaded: LoadedModel, prompt: str) -> None:
        super().__init__(steps, seconds)
        self.loaded, self.prompt = loaded, prompt

    @property
    def text(self) -> str:
        """The answer without its stop token."""
        ended = self.stop_reason == STOP_TOKEN
        return self.loaded.tokenizer.decode(self.token_ids[:-1] if ended else self.token_ids)

    def to_frame(self, params: SamplingParams | None = None):
        """A DataFrame with a row for each step, in numbers."""
        return trace_frame(self, params)

    def table(self, params: SamplingParams | None = None):
        """A DataFrame with a row for each step: its token, what each stage left, and what `params` would choose now."""
        return steps_table(self, self.loaded.labels, params or self.params)

    def figure(self, step: int | None = None, params: SamplingParams | None = None, dark: bool = False) -> Figure:
        """The candidates of one step, by default the one with the widest choice, beside curves of the whole answer."""
        params, table = params or self.params, self.table(params)
        if step is None:
            step = int(table["num_candidates"].argmax())
        step = whole_number("step", step, 0, len(self) - 1)
        candidates = candidates_table(self, self.loaded.labels, params, step)
        figure = answer_figure(table, candidates, step, len(self.loaded.labels), f"{self.loaded.name}: {self.prompt}")
        return style.resolve(figure, dark)

    def __repr__(self) -> str:
        facts = {"steps": len(self), "model": self.loaded.name, "reason": str(self.stop_reason)}
        return say("models.trace.shown", text=repr(self.text), **facts)

    def _repr_html_(self) -> str:
        table = self.table()
        red, green, blue = (int(style.PALETTE["kept"][0][place : place + 2], 16) for place in (1, 3, 5))
        shaded = "".join(
            f'<span title="{numbers.percent(row.prob)}" '
            f'style="background:rgba({red},{green},{blue},{row.prob / 2:.2f});border-radius:3px;'
            f'padding:1px 2px;margin:1px">{html.escape(row.token)}</span>'
            for row in table.itertuples()
        )
        shown = table[["step", "token", "model_prob", "prob", "rank", "num_candidates", "entropy", "num_fed"]]
        rows = shown.to_html(index=False, max_rows=24, float_format=lambda number: f"{number:.4f}")
        return f"<p>{html.escape(self.prompt)}</p><p style='font-family:monospace'>{shaded}</p>{rows}"
