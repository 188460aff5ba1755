"""The first tab: everything on one screen, for the projector."""

import gradio as gr

from playground.page.bar import MODEL_LINE, Page, prompt_ids_of
from playground.page.controls import new_tokens, readable_errors, sampling_params
from playground.page.panel import panel
from playground.tabs.cache_on_off.race import OFF, ON, RaceResult, race
from playground.tabs.thirty_answers.answers import NUM_ANSWERS, draw_answer_set


def playground_tab(page: Page) -> None:
    with gr.Tab("Playground", id="playground"), gr.Row(elem_classes="board"):
        with gr.Column(elem_classes="card area-tokens"):
            panel("tokens")
        with gr.Column(elem_classes="card area-distribution"):
            panel("distribution")
        with gr.Column(elem_classes="card area-nucleus"):
            _title("Nucleus size at each step")
            panel("playground/nucleus")
        with gr.Column(elem_classes="card area-compare"):
            _title("Cache on and off")
            compare = gr.Button("Compare cache on / off", elem_id="compare", size="md")
            comparison = panel("playground/compare")
        with gr.Column(elem_classes="card area-cache"):
            _title("KV cache, layer by layer")
            panel("cache_growth")
        with gr.Column(elem_classes="card area-answers"):
            _title(f"Distinct answers among {NUM_ANSWERS}")
            answers = panel("playground/dots", events=["asked"])

    def on_asked(asked):
        return dots_value(page, asked)

    def on_compare(model_name, prompt, controls):
        loaded = page.models[model_name]
        params, prompt_ids = sampling_params(controls), prompt_ids_of(loaded, prompt)
        yield {"running": True}
        with readable_errors():
            for tick in race(loaded, prompt_ids, params, new_tokens(controls)):
                if tick.result:
                    yield comparison_value(tick.result) | {"model": loaded.name, "prompt": prompt}

    def on_halt(shown):
        return {} if shown and shown.get("running") else gr.skip()

    answers.asked(on_asked, answers, answers, trigger_mode="always_last", **MODEL_LINE)
    compared = compare.click(on_compare, [page.model_name, page.prompt, page.controls], comparison, **MODEL_LINE)
    halted = page.stop.click(None, cancels=[compared], queue=False)
    for event in (halted.then, compared.failure):
        event(on_halt, comparison, comparison, queue=False, show_progress="hidden")


def dots_value(page: Page, asked: dict) -> dict:
    """For dots.js: 30 answers to the prompt of the run on the screen, under the present sliders, or what is wrong."""
    loaded = page.models.get(asked["model"])
    if loaded is None:
        return {"reply": asked["number"], "problem": "This run's model is not loaded: its answers can't be sampled."}
    try:
        with readable_errors():
            params = sampling_params(asked["params"])
            prompt_ids_of(loaded, asked["prompt"])
            drawn = draw_answer_set(loaded, asked["prompt"], params)
    except gr.Error as error:
        return {"reply": asked["number"], "problem": error.message}
    return {
        "reply": asked["number"],
        "distinct": drawn.num_distinct,
        "groups": drawn.groups,
        "answers": [{"text": group.text, "count": len(group.rows)} for group in drawn.distinct],
        "max_new_tokens": drawn.max_new_tokens,
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
