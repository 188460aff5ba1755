"""What the pictures of "Heads and shapes" and "When it helps" take: plain values, made from the experiments."""

from collections.abc import Generator, Sequence
from functools import reduce

from playground.tabs.inside_the_cache.classifier import REPEATS, read_once
from playground.tabs.inside_the_cache.growth_values import size_bars, size_told
from playground.tabs.inside_the_cache.kv_heads import KVHeads, compare_kv_heads, repeated_heads
from playground.tabs.inside_the_cache.question import Text
from playground.tabs.inside_the_cache.training_cache import train_with_cache
from playground.words import told

ROUNDING_KL = 1e-6  # nats: what is less is rounding


def repeat_value(text: Text) -> dict:
    """For repeat.js: the stored heads of one layer, and the query heads that read them."""
    made = repeated_heads(text.loaded.model, text.stored_ids, text.layer)
    facts = {
        "stored": made.stored_bytes,
        "repeated": made.repeated_bytes,
        "times": made.repeated[1] // made.stored[1],
        "difference": made.difference,
    }
    return {
        "layer": text.layer,
        "num_layers": text.loaded.model.config.num_layers,
        "stored": list(made.stored),
        "repeated": list(made.repeated),
        "note": told("inside_the_cache.repeat.note", layer=text.layer + 1, **facts),
    }


def heads_value(text: Text) -> Generator[None, None, dict]:
    """For bars.js."""
    results = yield from compare_kv_heads(text.loaded.model, text.stored_ids)

    def name(result: KVHeads) -> int | dict:
        return (
            told("inside_the_cache.heads.trained", heads=result.num_kv_heads)
            if result.is_trained
            else result.num_kv_heads
        )

    sizes = [(name(result), result.bytes_per_layer, "kept" if result.is_trained else "ghost") for result in results]
    moved = [
        {
            "label": name(result),
            "share": result.same_choice,
            "text": told("inside_the_cache.number.percent", share=result.same_choice),
            "kind": "kept" if result.is_trained else "off",
        }
        for result in results
    ]
    return {
        "groups": [
            {"title": told("inside_the_cache.heads.sizes"), "rows": size_bars(sizes)},
            {"title": told("inside_the_cache.heads.choices"), "rows": moved},
        ],
        "note": told(
            "inside_the_cache.heads.note",
            positions=len(text.stored_ids),
            distances=_distances([result for result in results if not result.is_trained]),
        ),
    }


def _distances(results: Sequence[KVHeads]) -> dict:
    """Of each untrained one, in one list."""
    if not results:
        return told("inside_the_cache.heads.none")
    listed = [
        told(
            "inside_the_cache.heads.rounding" if 0 < result.kl < ROUNDING_KL else "inside_the_cache.heads.distance",
            kl=result.kl,
            limit=ROUNDING_KL,
            heads=result.num_kv_heads,
        )
        for result in results
    ]
    return reduce(lambda before, after: told("inside_the_cache.heads.and", before=before, after=after), listed)


def classifier_value(text: Text) -> Generator[None, None, dict]:
    """For table.js."""
    cached = yield from read_once(text.loaded.model, text.stored_ids, "dynamic")
    uncached = yield from read_once(text.loaded.model, text.stored_ids, "none")
    both = (cached, uncached)
    rows = [
        [told("inside_the_cache.classifier.fed"), *(one.num_fed for one in both)],
        [told("inside_the_cache.classifier.multiply_adds"), *(one.multiply_adds for one in both)],
        [told("inside_the_cache.classifier.from_cache"), *(one.rows_from_cache for one in both)],
        [told("inside_the_cache.classifier.kept"), *(size_told(one.kept_bytes) for one in both)],
        [
            told("inside_the_cache.classifier.time", repeats=REPEATS),
            *(told("inside_the_cache.number.milliseconds", seconds=one.seconds) for one in both),
        ],
    ]
    difference = float((cached.logits - uncached.logits).abs().max())
    return {
        "columns": [told(f"inside_the_cache.classifier.{name}") for name in ("one_pass", "on", "off")],
        "rows": rows,
        "note": told("inside_the_cache.classifier.note", difference=difference),
    }


def training_value(text: Text) -> Generator[None, None, dict | None]:
    """For table.js. A single token has no next one to learn."""
    if len(text.stored_ids) < 2:
        return None
    # Recomputing feeds the text a second time into the same cache: of a long one only what finds room twice is learned.
    learned = text.stored_ids[: text.loaded.model.config.max_positions // 2 + 1]
    result = yield from train_with_cache(text.loaded.model, learned)
    moved, largest = result.gradient_difference, result.gradient_size
    rows = [
        [told("inside_the_cache.training.loss"), told("inside_the_cache.training.nats", loss=result.loss)],
        [
            told("inside_the_cache.training.loss_difference"),
            told("inside_the_cache.number.small", number=result.loss_difference),
        ],
        [
            told("inside_the_cache.training.gradients"),
            told("inside_the_cache.training.of_largest", difference=moved, largest=largest),
        ],
        [told("inside_the_cache.training.rows"), result.rows_after_forward],
        [told("inside_the_cache.training.rows_again"), result.rows_after_recomputing],
    ]
    columns = [told(f"inside_the_cache.training.{name}") for name in ("step", "measured")]
    if len(learned) == len(text.stored_ids):
        return {"columns": columns, "rows": rows}
    note = told("inside_the_cache.training.note", learned=len(learned), stored=len(text.stored_ids))
    return {"columns": columns, "rows": rows, "note": note}
