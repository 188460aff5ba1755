"""The first tab: everything on one screen, for the projector."""

import gradio as gr

from playground.experiments.answers import AnswerSet, sample_answer_set
from playground.experiments.race import OFF, ON, RaceResult, race
from playground.ui.bar import MODEL_QUEUE, Page, prompt_ids_of
from playground.ui.controls import new_tokens, sampling_params
from playground.ui.panel import panel

NUM_ANSWERS = 30
ANSWER_TOKENS = 24


def playground_tab(page: Page) -> None:
    with gr.Tab("Playground", id="playground"), gr.Row(elem_classes="board"):
        with gr.Column(elem_classes="card area-tokens"):
            panel("tokens")
        with gr.Column(elem_classes="card area-distribution"):
            panel("distribution")
        with gr.Column(elem_classes="card area-nucleus"):
            _title("Nucleus size at each step")
            panel("nucleus")
        with gr.Column(elem_classes="card area-compare"):
            _title("Cache on and off")
            compare = gr.Button("Compare cache on / off", elem_id="compare", size="md")
            comparison = panel("compare")
        with gr.Column(elem_classes="card area-cache"):
            _title("KV cache, layer by layer")
            panel("cache_growth")
        with gr.Column(elem_classes="card area-answers"):
            _title(f"Distinct answers among {NUM_ANSWERS}")
            answers = panel("dots")

    def on_answers(model_name, prompt, controls):
        loaded = page.models[model_name]
        params = sampling_params(controls)
        prompt_ids_of(loaded, prompt)
        return answers_value(sample_answer_set(loaded, prompt, params, NUM_ANSWERS, ANSWER_TOKENS), controls)

    def on_settled(model_name, prompt, controls, run):
        # Before the first run there is nothing to keep up with.
        return on_answers(model_name, prompt, controls) if run else gr.skip()

    def on_compare(model_name, prompt, controls):
        loaded = page.models[model_name]
        params, prompt_ids = sampling_params(controls), prompt_ids_of(loaded, prompt)
        yield {"running": True}
        for tick in race(loaded, prompt_ids, params, new_tokens(controls)):
            if tick.result:
                yield comparison_value(tick.result)

    request = [page.model_name, page.prompt, page.controls]
    model_line = {"concurrency_id": MODEL_QUEUE, "concurrency_limit": 1, "show_progress": "hidden"}
    page.generated.success(on_answers, request, answers, **model_line)
    page.controls.settled(on_settled, [*request, page.run], answers, trigger_mode="always_last", **model_line)
    compare.click(on_compare, request, comparison, **model_line)


def answers_value(answer_set: AnswerSet, controls: dict) -> dict:
    """For dots.js."""
    return {
        "distinct": answer_set.num_distinct,
        "groups": answer_set.groups,
        "answers": [{"text": group.text, "count": len(group.rows)} for group in answer_set.distinct],
        "max_new_tokens": answer_set.max_new_tokens,
        "params": controls,
    }


def comparison_value(result: RaceResult) -> dict:
    """For compare.js."""
    sides = {
        name: {
            "fed": side.total_fed,
            "first_seconds": side.first_token_seconds,
            "later_seconds": side.later_token_seconds,
            "total_seconds": side.total_seconds,
            "seconds": side.seconds,
        }
        for name, side in ((ON, result.on), (OFF, result.off))
    }
    return {
        "sides": sides,
        "expected": {ON: result.expected_fed_on, OFF: result.expected_fed_off},
        "prompt_length": result.prompt_length,
        "new_tokens": len(result.on.token_ids),
        "equal": result.equal,
        "first_difference": result.first_difference,
        "largest_gap": result.largest_gap,
        "token_ratio": result.token_ratio,
        "time_ratio": result.time_ratio,
        "repeats": result.repeats,
        "noisy": result.noisy,
        "machine": result.machine,
    }


def _title(text: str) -> None:
    gr.Markdown(f"## {text}", elem_classes="card-title")
