"""What the pictures of shared blocks take, and the tables of devices and files."""

from collections.abc import Mapping

from playground.models.text import LoadedModel
from playground.page.line import Progress, Work, in_steps
from playground.page.requests import own_model_of
from playground.tabs.kinds_of_cache.blocks import ANSWER_TOKENS, BLOCK_SIZES, NUM_ANSWERS, share_blocks
from playground.tabs.kinds_of_cache.comparison_values import READER
from playground.tabs.kinds_of_cache.places import BY_LAYERS, REPEATS, file_times, splits
from playground.tabs.kinds_of_cache.stories import stories
from playground.words import say, told

FILE_LENGTHS = 100, 480  # tokens


def _reader(models: Mapping[str, LoadedModel], model_name: str) -> LoadedModel:
    return own_model_of(models, READER if READER in models else model_name)


def requests() -> list[str]:
    """A story with a question, the story with another, and the first with one word more in front."""
    first, other = stories()[0], say("kinds_of_cache.blocks.other_question")
    return [first.prompt, f"{first.text} {other}", f"{say('kinds_of_cache.blocks.word')} {first.prompt}"]


def shared_blocks(models: Mapping[str, LoadedModel], _question: dict, model_name: str) -> Work:
    """For blocks.js."""
    loaded = _reader(models, model_name)
    prompts = [loaded.prompt_ids(prompt) for prompt in requests()]
    found = yield from in_steps(share_blocks(loaded.model, prompts), of=len(BLOCK_SIZES))
    yield {
        "requests": [{"title": told(f"kinds_of_cache.request.{name}")} for name in ("first", "other", "word")],
        "answers": NUM_ANSWERS,
        "answer_tokens": ANSWER_TOKENS,
        "sizes": [{**vars(each), "served": [vars(one) for one in each.served]} for each in found],
    }


def where_it_lies(models: Mapping[str, LoadedModel], _question: dict, model_name: str) -> Work:
    """For tables.js."""
    loaded = _reader(models, model_name)
    ids = loaded.prompt_ids(stories()[0].prompt)
    config = loaded.model.config
    made = yield from splits(loaded.model, ids)
    yield Progress(1, 2)
    rows = []
    for (how, devices), split in sorted(made.items()):
        rows.append(
            [
                told(f"kinds_of_cache.place.{how}", devices=devices),
                told("kinds_of_cache.number.bytes", bytes=max(split.bytes_per_device)),
                told("kinds_of_cache.number.bytes", bytes=sum(split.bytes_per_device)),
                told("kinds_of_cache.number.bytes", bytes=split.travelling_bytes),
            ]
        )
    whole = sum(made[BY_LAYERS, 2].bytes_per_device)
    alone = [told("kinds_of_cache.place.alone")]
    alone += [told("kinds_of_cache.number.bytes", bytes=count) for count in (whole, whole, 0)]
    devices = {
        "columns": [told(f"kinds_of_cache.place_column.{name}") for name in ("how", "each", "all", "travels")],
        "rows": [alone, *rows],
        "note": told("kinds_of_cache.places.note", heads=config.num_kv_heads, tokens=len(ids), model=loaded.name),
    }
    times = yield from file_times(loaded.model, (ids * 4)[: max(FILE_LENGTHS)], FILE_LENGTHS)
    files = {
        "columns": [told(f"kinds_of_cache.file_column.{name}") for name in ("tokens", "bytes", "compute", "read")],
        "rows": [
            [
                told("kinds_of_cache.number.tokens", count=each.num_tokens),
                told("kinds_of_cache.number.bytes", bytes=each.num_bytes),
                told("kinds_of_cache.number.milliseconds", seconds=each.compute_seconds),
                told("kinds_of_cache.number.milliseconds", seconds=each.read_seconds),
            ]
            for each in times
        ],
        "note": told("kinds_of_cache.places.file_note", repeats=REPEATS),
    }
    yield {"devices": devices, "files": files}
