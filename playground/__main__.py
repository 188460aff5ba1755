"""Serves the page: python app.py, or python -m playground; then open http://127.0.0.1:7860."""

import argparse
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from playground.models.sources import SMOLLM2, asks_the_hub

# Before gradio is imported: nothing leaves the machine, and the queue neither slows down with every event that it has
# seen nor remembers it.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000")
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "0" if asks_the_hub(sys.argv) else "1")

import gradio as gr
import torch

from playground.build import build_page, launch_options
from playground.engine.packed import FORMATS
from playground.models.loading import ModelFileError, embedded_names, load_model
from playground.models.remote import RemoteServer
from playground.page.guard import Door
from playground.page.model_box import Allowed
from playground.words import say, told

OPENS_WITH = "minimind-chat"  # an answer that ends, and has one wide-open step
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def main(arguments: list[str] | None = None) -> None:
    """What hinders the start is one sentence, and the exit code is 1; a wrong flag is argparse's business, and 2."""
    try:
        flags = parse_flags(arguments)
        demo = build(flags.device, flags.dtype, flags.model, flags.weights, server_of(flags), allowed_of(flags))
    except (ModelFileError, OSError, RuntimeError, AssertionError) as error:  # the last: a torch without CUDA
        raise SystemExit(say("start.problem.any", reason=str(error).splitlines()[0])) from None
    door = door_of(flags)
    options, is_open = launch_options(door), flags.share or not door.is_local
    if is_open and not flags.auth:
        print(say("start.open_to_all", host=flags.host, share=int(flags.share)), file=sys.stderr)
    if is_open and flags.allow_models:
        print(say("start.models_for_all"), file=sys.stderr)
    if flags.mcp:
        if find_spec("mcp") is None:
            raise SystemExit(say("start.problem.mcp"))
        options["mcp_server"] = True
    try:
        demo.launch(server_name=flags.host, server_port=flags.port, share=flags.share, auth=flags.auth, **options)
    except OSError:
        taken = told("start.problem.port_is_taken", port=flags.port, host=flags.host)
        raise SystemExit(say("start.problem.any", reason=taken)) from None


def parse_flags(arguments: list[str] | None = None) -> argparse.Namespace:
    started = "app.py" if Path(sys.argv[0]).name == "app.py" else "python -m playground"
    parser = argparse.ArgumentParser(prog=started, description=say("start.description"))
    host = os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")  # a hosted Space sets it
    parser.add_argument("--host", default=host, help=say("start.flag.host"))
    parser.add_argument("--port", type=_port, default=7860)
    parser.add_argument("--share", action="store_true", help=say("start.flag.share"))
    parser.add_argument("--auth", type=_account, metavar="USER:PASSWORD", help=say("start.flag.auth"))
    parser.add_argument("--name", action="append", default=[], type=_name, help=say("start.flag.name"))
    parser.add_argument("--embed", action="append", default=[], type=_site, metavar="URL", help=say("start.flag.embed"))
    parser.add_argument("--mcp", action="store_true", help=say("start.flag.mcp"))
    parser.add_argument("--device", default="cpu", help=say("start.flag.device"))
    parser.add_argument("--dtype", choices=list(DTYPES), help=say("start.flag.dtype"))
    parser.add_argument("--weights", default="float32", choices=list(FORMATS), help=say("start.flag.weights"))
    parser.add_argument("--engine", metavar="URL", help=say("start.flag.engine"))
    parser.add_argument("--engine-model", metavar="NAME", help=say("start.flag.engine_model"))
    parser.add_argument("--engine-key-env", metavar="VARIABLE", help=say("start.flag.engine_key_env"))
    parser.add_argument("--model", help=say("start.flag.model", names=", ".join([*embedded_names(), SMOLLM2])))
    parser.add_argument("--allow-models", action="store_true", help=say("start.flag.allow_models"))
    parser.add_argument("--models", type=_folder, metavar="DIR", help=say("start.flag.models"))
    flags = parser.parse_args(arguments)
    if flags.models and not flags.allow_models:
        parser.error(say("start.problem.models_alone"))
    return flags


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(say("start.problem.port", value=repr(text)))
    return int(text)


def _account(text: str) -> tuple[str, str]:
    user, _, password = text.partition(":")
    if not user or not password:
        raise argparse.ArgumentTypeError(say("start.problem.auth"))
    return user, password


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(say("start.problem.models", value=repr(text)))
    return Path(text)


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9.-]+", text):
        raise argparse.ArgumentTypeError(say("start.problem.name", value=repr(text)))
    return text


def _site(text: str) -> str:
    if not re.fullmatch(r"https?://[A-Za-z0-9.*-]+(:[0-9]+)?", text):
        raise argparse.ArgumentTypeError(say("start.problem.embed", value=repr(text)))
    return text


def door_of(flags: argparse.Namespace) -> Door:
    """By which names the page answers and who may show it in a frame. A Space is known by what its host sets."""
    names, embedders = [*flags.name], [*flags.embed]
    if "SPACE_HOST" in os.environ:
        names += os.environ["SPACE_HOST"].split(",")
        embedders.append("https://huggingface.co")
    return Door(flags.host, tuple(names), tuple(embedders), flags.share, flags.mcp)


def allowed_of(flags: argparse.Namespace) -> Allowed | None:
    """What visitors may load."""
    return Allowed(flags.models, flags.device, large_dtype(flags.dtype, flags.device)) if flags.allow_models else None


def large_dtype(dtype: str | None, device: str) -> torch.dtype:
    """Of models that are not embedded: half of the memory, where the device is made for it."""
    return DTYPES[dtype or ("bfloat16" if device.startswith("cuda") else "float32")]


def server_of(flags: argparse.Namespace) -> RemoteServer | None:
    """The one elsewhere that the page may ask. Its address comes from here alone, never from a visitor."""
    if flags.engine is None:
        return None
    try:
        return RemoteServer.of(flags.engine, flags.engine_model, flags.engine_key_env)
    except ValueError as error:
        raise SystemExit(say("start.problem.any", reason=str(error))) from None


def build(
    device: str = "cpu",
    dtype: str | None = None,
    first: str | None = None,
    weights: str = "float32",
    server: RemoteServer | None = None,
    allowed: Allowed | None = None,
) -> gr.Blocks:
    """The page with the embedded models, and in front of them the one asked for."""
    names = sorted(embedded_names(), key=lambda name: name != (first or OPENS_WITH))
    models = {}
    for name in names if first in (None, *names) else [first, *names]:
        packed = weights if name == first else "float32"  # the small ones gain nothing
        is_small = name in names  # and has to write the same with the cache on and off
        kind = DTYPES[dtype or "float32"] if is_small else large_dtype(dtype, device)
        loaded = load_model(name, device=device, dtype=kind, weights=packed)
        models.setdefault(loaded.name, loaded)
    demo = build_page(models, server, allowed)
    return demo.queue(default_concurrency_limit=2, max_size=1000, api_open=False)  # nobody skips the line


if __name__ == "__main__":
    main()
