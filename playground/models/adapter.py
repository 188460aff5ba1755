"""Any causal language model of transformers, as the loop takes it: with our caches, kinds and masks."""

import inspect
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import check_room
from playground.models.files import LoadStep, ModelFileError, check_memory, free_memory, read_folder_weights
from playground.models.sources import require
from playground.words import say

POSITIONS = 2048  # where a configuration names no end: those of a model without a table of positions


@dataclass(frozen=True)
class AdaptedConfig:
    num_layers: int
    vocab_size: int
    max_positions: int


class TransformersDecoder:
    """A `Decoder` around a model such as GPT2LMHeadModel or GemmaForCausalLM; nothing of a request is stored in it.

    The model itself is put into eval mode, and its gradients are turned off.
    """

    def __init__(self, model: Any) -> None:
        self.model = model.eval().requires_grad_(False)
        config = model.config.get_text_config()
        positions = getattr(config, "max_position_embeddings", None) or POSITIONS
        self.config = AdaptedConfig(config.num_hidden_layers, config.vocab_size, positions)
        self._windowed = any(kind != "full_attention" for kind in getattr(config, "layer_types", None) or [])
        # transformers 5 gave the argument another name, model by model.
        arguments = inspect.signature(model.forward).parameters
        self._cache_argument = "cache" if "cache" in arguments else "past_key_values"

    @property
    def device(self) -> torch.device:
        return self.model.device

    def __call__(self, token_ids: Tensor, cache: KVCache, last_only: bool = False) -> Tensor:
        """Logits (B, T, V) of new tokens (B, T), or (B, 1, V) of the last.

        Raises as our own model does, and ValueError where the model's own windows and a cache that forgets meet.
        """
        num_new, start = token_ids.shape[1], cache.position
        if any(layer.watches_queries for layer in cache.layers):
            raise ValueError(say("engine.cache.unwatched"))
        check_room(self.config, cache, num_new)
        positions = torch.arange(start, start + num_new, device=self.device)[None]
        with cache.one_pass(token_ids):
            return self.model(
                input_ids=token_ids,
                attention_mask=self._mask(cache, num_new),
                position_ids=positions,
                use_cache=True,
                logits_to_keep=1 if last_only else 0,
                **{self._cache_argument: getattr(cache, "theirs", cache)},
            ).logits

    def _mask(self, cache: KVCache, num_new: int) -> Tensor | None:
        """(1, 1, T, S) to be added to the scores; None where transformers makes the right one by itself."""
        if num_new == 1 or not any(layer.forgets for layer in cache.layers):
            return None
        if self._windowed:
            raise ValueError(say("models.adapter.windows"))
        masks = [layer.mask(layer.upcoming(num_new), num_new) for layer in cache.layers]
        if not all(torch.equal(mask, masks[0]) for mask in masks):
            raise ValueError(say("models.adapter.layers"))
        hidden = torch.finfo(self.model.dtype).min
        added = torch.zeros(masks[0].shape, dtype=self.model.dtype).masked_fill(~masks[0], hidden)
        return added[None, None].to(self.device)


def load_adapted(
    folder: Path, settings: Any, into: tuple[torch.device, torch.dtype], error: ModelFileError
) -> Generator[LoadStep, None, TransformersDecoder]:
    """The model of a folder in transformers' own code; `error` is raised again where transformers has none for it."""
    model_type = settings.get("model_type") if isinstance(settings, dict) else None
    if not isinstance(model_type, str) or model_type == "minimind":
        raise error
    require("transformers")
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CLASSES

    classes = settings.get("architectures")
    if model_type not in CLASSES or (isinstance(classes, list) and classes and CLASSES[model_type] not in classes):
        raise error
    device, dtype = into
    num_bytes = sum(tensor.numel() for tensor in read_folder_weights(folder).values()) * dtype.itemsize
    yield LoadStep("read", 0, num_bytes)
    placed = placing(num_bytes, device)
    if not placed:
        check_memory(num_bytes, folder, device)
    try:
        model, about = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,  # they are told below, in one sentence
            output_loading_info=True,
            **placed,
        )
    except Exception as wrong:  # each class of transformers raises its own
        reason = next(iter(str(wrong).strip().splitlines()), type(wrong).__name__)
        raise ModelFileError(say("models.adapter.unreadable", path=str(folder), reason=reason)) from None
    for name, shape, expected in sorted(about["mismatched_keys"]):
        facts = {"name": repr(name), "shape": str(tuple(shape)), "expected": str(tuple(expected))}
        reason = say("models.checkpoint.shape", **facts)
        raise ModelFileError(say("models.load.reason", path=str(folder), reason=reason))
    if missing := sorted(about["missing_keys"]):
        raise ModelFileError(say("models.adapter.weights", path=str(folder), name=repr(missing[0])))
    decoder = TransformersDecoder(model if placed else model.to(device))
    if not _keeps_keys_and_values(decoder):
        kind = str(model_type)
        raise ModelFileError(say("models.adapter.other_cache", path=str(folder / "config.json"), kind=kind))
    return decoder


def placing(num_bytes: int, device: torch.device) -> dict[str, str]:
    """A model that is larger than one GPU is laid over all of them, and the rest into the computer's memory."""
    if device.type != "cuda" or num_bytes <= (free_memory(device) or 0):
        return {}
    require("accelerate")
    return {"device_map": "auto"}


def _keeps_keys_and_values(decoder: TransformersDecoder) -> bool:
    """Tried with one token: each kind of model has its own idea of what to keep."""
    cache = KVCache.of(decoder)
    try:
        with torch.inference_mode():
            decoder(torch.zeros(1, 1, dtype=torch.long, device=decoder.device), cache, last_only=True)
    except Exception:  # it asked the cache for what ours has not
        return False
    return all(layer.seen == 1 for layer in cache.layers)


class TransformersCache(KVCache):
    """A cache of transformers (DynamicCache, StaticCache, with sliding layers or without) in the loop of this project.

    It goes only into models of transformers. It can't be gone back in: for another text, and when a pass fails, it
    begins anew.
    """

    def __init__(self, theirs: Any, num_layers: int) -> None:
        self.theirs = theirs
        super().__init__(num_layers)  # its layers stay empty: transformers asks its own

    @property
    def position(self) -> int:
        return int(self.theirs.get_seq_length())

    @property
    def max_length(self) -> int | None:
        lengths = [layer.get_max_length() for layer in self.theirs.layers if not getattr(layer, "is_sliding", False)]
        return min((length for length in lengths if length > 0), default=None)

    def bytes_per_layer(self) -> list[int]:
        """Of the tensors that hold keys and values; a static layer's are whole."""
        layers = [(layer.keys, layer.values) for layer in self.theirs.layers]
        return [sum(tensor.nbytes for tensor in pair if tensor is not None) for pair in layers]

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.reset()
            raise

    def keep_common(self, token_ids: Sequence[int]) -> int:
        held = self.token_ids[0].tolist() if self.told else []
        if held != list(token_ids[: len(held)]) or not self.position == len(held) < len(token_ids):
            self.reset()
        return self.position

    def reset(self) -> None:
        super().reset()
        with torch.inference_mode():  # what a pass made in it can be written only in it
            self.theirs.reset()
