"""How soon the shipped model is there, and what one of its tokens costs, against the same weights in transformers."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import transformers

from benchmarks.against_transformers import NEW_TOKENS, in_transformers
from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.models.loading import EMBEDDED, LoadedModel, load_model


def figures() -> Iterator[Figure]:
    transformers.logging.disable_progress_bar()
    loaded = load_model("minimind-chat")
    theirs = in_transformers(loaded.model)
    with TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        yield loading(Path(folder))
    yield one_token(loaded, theirs)


def loading(folder: Path) -> Figure:
    def peer() -> tuple:
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(EMBEDDED / "tokenizer.json"))
        return tokenizer, transformers.AutoModelForCausalLM.from_pretrained(folder)

    return compare(
        "weights and tokenizer from their files, against transformers from_pretrained, ms",
        processor_time(lambda: load_model("minimind-chat")),
        processor_time(peer),
        Goal(1),
        "minimind-chat, float32, files read before, 1 thread",
    )


def one_token(loaded: LoadedModel, theirs: transformers.PreTrainedModel) -> Figure:
    """Ours draws and tells everything of each step; the peer is their forward pass alone, with the likeliest token."""
    # The only name for the cache that all of transformers 5 knows.
    warnings.filterwarnings("ignore", message="`past_key_values` is deprecated", category=FutureWarning)
    prompt = loaded.prompt_ids("Tell me a story about a dragon.")

    def ours() -> list[int]:
        cache = KVCache(loaded.model.config.num_layers)
        steps = generate(loaded.model, prompt, SamplingParams(temperature=0), cache, NEW_TOKENS)
        return [step.token_id for step in steps]

    def peer() -> list[int]:
        cache, new, written = transformers.DynamicCache(), torch.tensor([prompt]), []
        for _ in range(NEW_TOKENS):
            new = theirs(new, past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1].argmax(-1)[:, None]
            written.append(int(new))
        return written

    assert peer() == ours(), "both must write the same tokens"
    return compare(
        "one token of a cached answer, against one cached forward pass of transformers, ms",
        processor_time(ours, parts=NEW_TOKENS),
        processor_time(peer, parts=NEW_TOKENS),
        Goal(1.5),
        f"prompt {len(prompt)} + {NEW_TOKENS} new tokens, greedy, same tokens, mean of them, float32, 1 thread",
    )
