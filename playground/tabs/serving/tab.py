"""Serving: what a server does with KV caches: how many fit, how requests share a batch and a prompt; and a real one."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import gradio as gr
from pydantic import BaseModel

from playground.models.remote import MOST_TOP, RemoteServer
from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.jobs import QUIET, Jobs
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.line import Work
from playground.page.panel import panel
from playground.page.requests import checked, own_model_of
from playground.tabs.serving.batching_values import SLOTS, WORKLOADS, batched
from playground.tabs.serving.memory import TABLE, cache_bytes, hugging_face_names, measured_bytes, shape_of
from playground.tabs.serving.padding_values import PADS, padding_values
from playground.tabs.serving.prefix_values import ORDERS, prefix_values
from playground.tabs.serving.remote_values import CAN, FORMS, remote_values
from playground.words import say, told

MEASURED_TOKENS = 100


class ModelQuestion(BaseModel):
    """Of calculator.js."""

    model: str


def serving_tab(page: Page, server: RemoteServer | None = None) -> None:
    """server: the one elsewhere that --engine names."""
    lessons = read_lesson("serving")
    parts = {
        "memory": _memory_part,
        "batching": _batching_part,
        "padding": _padding_part,
        "prefix": _prefix_part,
        "remote": partial(_remote_part, server),
    }
    with gr.Tab(say("serving.tab"), id="serving"), gr.Tabs(elem_id="serving-parts", overflow_behavior="wrap"):
        for name, part in parts.items():
            with gr.Tab(say(f"serving.{name}.tab"), id=f"serving-{name}"):
                part(page, lessons)


def _memory_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('serving.memory.title')}", elem_classes="card-title")
        calculator = panel("serving/calculator", TABLE, events=["asked"], elem_id="serving-calculator")
    with gr.Row(elem_classes="serving-pair"):
        for name in ("changes", "mistakes"):
            with gr.Column(elem_classes="card", min_width=320):
                _title(name)
                panel(f"serving/{name}", elem_id=f"serving-{name}")
    with gr.Row(elem_classes="lessons"):
        for key in TABLE["lesson"]:
            button = lesson_card(key, lessons[key])
            show = f"() => document.dispatchEvent(new CustomEvent('serving-lesson', {{ detail: '{key}' }}))"
            button.click(None, None, None, js=show, queue=False, **QUIET)
    work = partial(measured, page.models)
    page.jobs.on(calculator.asked, work, calculator, calculator, name="measured", asks=True, trigger_mode="multiple")


def _batching_part(page: Page, lessons: dict[str, Section]) -> None:
    given = {"workloads": WORKLOADS, "slots": SLOTS}
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('serving.batching.title')}", elem_classes="card-title")
        batching = panel("serving/batching", given, events=["asked"], elem_id="serving-schedules")
    with gr.Row(elem_classes="lessons"):
        _choosing(lesson_card("equal", lessons["equal"]), "batching-workload", "equal")
    options = {"name": "batching", "long": True, "asks": True, "trigger_mode": "multiple"}
    page.jobs.on(batching.asked, partial(batched, page.models), batching, batching, **options)


def _padding_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('serving.padding.title')}", elem_classes="card-title")
        padding = panel("serving/padding", {"pads": PADS}, events=["asked"], elem_id="serving-padded")
    with gr.Column(elem_classes="card"):
        _title("reserved")
        reserved = panel("serving/reserved", elem_id="serving-reserved", elem_classes=["is-wide"])
    with gr.Row(elem_classes="lessons"):
        _choosing(lesson_card("K14", lessons["K14"]), "padding-pads", "1")
    options = {"name": "padding", "long": True, "asks": True, "trigger_mode": "multiple"}
    page.jobs.on(padding.asked, partial(padding_values, page.models), padding, [padding, reserved], **options)


def _prefix_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('serving.prefix.title')}", elem_classes="card-title")
        prefix = panel("serving/prefix", {"orders": ORDERS}, events=["asked"], elem_id="serving-prefixes")
    with gr.Row(elem_classes="lessons"):
        _choosing(lesson_card("K15", lessons["K15"]), "prefix-order", "time")
    options = {"name": "prefix", "long": True, "asks": True, "trigger_mode": "multiple"}
    page.jobs.on(prefix.asked, partial(prefix_values, page.models), prefix, prefix, **options)


def _remote_part(server: RemoteServer | None, page: Page, _lessons: dict[str, Section]) -> None:
    # A line of its own, since it does not run the model here: one request after another goes to the server, so that a
    # class does not press on it and on its times, and nobody else on the page waits for it.
    jobs = Jobs()
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('serving.remote.title')}", elem_classes="card-title")
        given = {"connected": server is not None, "forms": FORMS}
        remote = panel("serving/remote", given, events=["asked"], elem_id="serving-remote")
        stop = gr.Button(say("serving.remote.stop"), elem_id="remote-stop", visible=server is not None, scale=0)
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('serving.remote.can_title')}", elem_classes="card-title")
        panel("serving/remote_can", {"most": MOST_TOP, "can": CAN}, elem_id="remote-can")
    options = {"name": "remote", "asks": True, "trigger_mode": "multiple"}
    jobs.on(remote.asked, partial(remote_values, server), [remote, page.prompt, page.controls], remote, **options)
    jobs.stop(stop, "remote")


def _title(name: str) -> None:
    text = f"## {say(f'serving.{name}.title')}\n{say(f'serving.{name}.about')}"
    gr.Markdown(text, elem_classes="card-title")


def _choosing(button: gr.Button, box: str, value: str) -> None:
    """The button chooses a value in a panel's box, as a hand would."""
    chosen = f"Object.assign(document.getElementById('{box}'), {{ value: '{value}' }})"
    button.click(
        None, js=f"() => {chosen}.dispatchEvent(new Event('input', {{ bubbles: true }}))", queue=False, **QUIET
    )


def measured(models: Mapping[str, LoadedModel], question: Any) -> Work:
    """For calculator.js: the tensors of a loaded model beside the formula."""
    loaded = own_model_of(models, checked(ModelQuestion, question).model)
    config = hugging_face_names(loaded.model.config)
    tokens = min(MEASURED_TOKENS, loaded.model.config.max_positions)
    bits = 8 * loaded.model.embedding.element_size()
    yield None
    facts = {
        "model": loaded.name,
        "tokens": tokens,
        "bits": bits,
        "measured": measured_bytes(loaded.model, [0] * tokens),
        "formula": round(cache_bytes(shape_of(config), tokens, bits)),
    }
    agrees = "same" if facts["measured"] == facts["formula"] else "differs"
    return {"config": config, "measured": told(f"serving.measured.{agrees}", **facts)}
