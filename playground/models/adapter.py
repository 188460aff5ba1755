"""Any causal language model of transformers, as the loop takes it: with our caches, kinds and masks."""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import check_room
from playground.words import say


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
        self.config = AdaptedConfig(config.num_hidden_layers, config.vocab_size, config.max_position_embeddings)
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
