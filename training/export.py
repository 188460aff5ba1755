"""Writes assets/model: float16 weights under MiniMind's names, the tokenizer, and one config for both versions."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from playground.engine.model import Transformer
from playground.models.checkpoint import tensors_of
from training.facts import all_facts, save_facts
from training.settings import MODEL_FOLDER, Recipe, model_config
from training.tokenizer import SPECIAL_TOKENS, load_tokenizer

VERSIONS = {
    "minimind-base": {"file": "base.safetensors", "chat": False, "stop_tokens": [SPECIAL_TOKENS[0]]},
    "minimind-chat": {"file": "chat.safetensors", "chat": True, "stop_tokens": [SPECIAL_TOKENS[2]]},
}


def export(recipe: Recipe, folder: Path = MODEL_FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = model_config(recipe.vocab_size)
    for name in ("base", "chat"):
        model = Transformer(config)
        checkpoint = recipe.file(f"{name}.checkpoint.pt")
        model.load_state_dict(torch.load(checkpoint, map_location="cpu", weights_only=True)["model"])
        tensors = {key: tensor.half().contiguous() for key, tensor in tensors_of(model).items()}
        save_file(tensors, folder / f"{name}.safetensors", metadata={"format": "pt"})
    load_tokenizer(recipe).save(str(folder / "tokenizer.json"))
    described = asdict(config) | {"trained_length": recipe.trained_length, "versions": VERSIONS}
    (folder / "config.json").write_text(json.dumps(described, indent=2) + "\n")
    save_facts(all_facts(recipe), folder / "facts.json")
    for path in sorted(folder.glob("*.safetensors")):
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
