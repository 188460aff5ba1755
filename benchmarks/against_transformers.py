"""Our loop against transformers' `generate`, on the same weights and the same prompt."""

from collections.abc import Iterator

import torch
import transformers

from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.engine.generation import generate, timed
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.checkpoint import tensors_of
from playground.models.loading import load_model
from playground.models.rows import sample_answers
from playground.models.text import LoadedModel

PROMPT_TOKENS, NEW_TOKENS = 183, 64
TEXT = "A small bird sat on the old wall and looked at the garden, where the children played in the warm sun. "


def prompt_of(loaded: LoadedModel, length: int = PROMPT_TOKENS) -> list[int]:
    ids = loaded.tokenizer.encode_plain(TEXT * (length // 10))
    return ids[:length]


def in_transformers(
    ours: Transformer,
    config_class: type = transformers.Qwen3Config,
    model_class: type = transformers.Qwen3ForCausalLM,
) -> transformers.PreTrainedModel:
    """The same weights in the class of transformers that has this architecture."""
    config = ours.config
    theirs = model_class(
        config_class(
            vocab_size=config.vocab_size,
            hidden_size=config.hidden_size,
            num_hidden_layers=config.num_layers,
            num_attention_heads=config.num_heads,
            num_key_value_heads=config.num_kv_heads,
            head_dim=config.head_dim,
            intermediate_size=config.intermediate_size,
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
            rms_norm_eps=config.rms_norm_eps,
            max_position_embeddings=config.max_positions,
            tie_word_embeddings=config.tie_embeddings,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=0,
        )
    )
    missing = theirs.load_state_dict(tensors_of(ours), strict=False).missing_keys
    assert missing == (["lm_head.weight"] if config.tie_embeddings else [])
    return theirs.eval().requires_grad_(False)


def generate_in(theirs: transformers.PreTrainedModel, prompt: list[int], num_new: int, **settings: object) -> object:
    """What transformers' own loop returns for one prompt."""
    ids = torch.tensor([prompt])
    return theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=num_new, **settings)


def figures() -> Iterator[Figure]:
    loaded = load_model("minimind-chat")
    theirs = in_transformers(loaded.model)
    yield one_answer(loaded, theirs)
    yield thirty_answers(loaded, theirs, prompt_of(loaded), Goal(3))
    yield thirty_answers(loaded, theirs, loaded.prompt_ids("Tell me about the sea."), Goal(2))


def one_answer(loaded: LoadedModel, theirs: transformers.PreTrainedModel) -> Figure:
    prompt, greedy = prompt_of(loaded), SamplingParams(temperature=0)

    def ours() -> Trace:
        trace = Trace.record(timed(generate(loaded.model, prompt, greedy, None, NEW_TOKENS)))
        assert trace.logits.shape == (NEW_TOKENS, loaded.model.config.vocab_size)
        return trace

    def peer():
        settings = {"do_sample": False, "output_logits": True, "return_dict_in_generate": True}
        return generate_in(theirs, prompt, NEW_TOKENS, **settings)

    assert peer().sequences[0, len(prompt) :].tolist() == ours().token_ids, "both must write the same tokens"
    return compare(
        "one answer with everything recorded, against transformers generate with output_logits, ms",
        processor_time(ours),
        processor_time(peer),
        Goal(2.3, remark="aim 3"),
        f"prompt {PROMPT_TOKENS} + {NEW_TOKENS} new tokens, greedy, same tokens, float32, 1 thread",
    )


def thirty_answers(loaded: LoadedModel, theirs: transformers.PreTrainedModel, prompt: list[int], goal: Goal) -> Figure:
    n, new = 30, 24

    def ours() -> list[list[int]]:
        return sample_answers(loaded.model, prompt, SamplingParams(), n, new)

    def peer():
        settings = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "num_return_sequences": n}
        return generate_in(theirs, prompt, new, **settings)

    assert peer().shape == (n, len(prompt) + new) and {len(answer) for answer in ours()} == {new}
    return compare(
        f"thirty answers to {len(prompt)} prompt tokens, against transformers generate with num_return_sequences, ms",
        processor_time(ours),
        processor_time(peer),
        goal,
        f"{n} answers of {new} tokens, T 1, no stop, float32, 1 thread",
    )
