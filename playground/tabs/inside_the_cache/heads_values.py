"""What the pictures of "Reads, heads, training" take: plain values, made from the experiments."""

from playground.tabs.inside_the_cache.classifier import read_once
from playground.tabs.inside_the_cache.kv_heads import KVHeads, compare_kv_heads
from playground.tabs.inside_the_cache.training_cache import train_with_cache
from playground.tabs.inside_the_cache.values import Text, size_text


def heads_value(text: Text) -> dict:
    """For bars.js."""
    results = compare_kv_heads(text.loaded.model, text.stored_ids)
    largest = max(result.bytes_per_layer for result in results)

    def name(result: KVHeads) -> str:
        return f"{result.num_kv_heads}{' (trained)' * result.is_trained}"

    sizes = [
        {
            "label": name(result),
            "share": result.bytes_per_layer / largest,
            "text": size_text(result.bytes_per_layer),
            "kind": "kept" if result.is_trained else "ghost",
        }
        for result in results
    ]
    moved = [
        {
            "label": name(result),
            "share": result.same_choice,
            "text": f"{100 * result.same_choice:.0f} %",
            "kind": "kept" if result.is_trained else "off",
        }
        for result in results
    ]
    distances = ", ".join(
        f"{_small(result.kl)} for {result.num_kv_heads}" for result in results if not result.is_trained
    )
    return {
        "groups": [
            {"title": "KV heads: bytes per layer, measured", "rows": sizes},
            {"title": "KV heads: same most likely next token", "rows": moved},
        ],
        "note": f"Over the {len(text.stored_ids)} positions of this answer. KL to the trained distribution of the next "
        f"token, mean in nats: {distances}.",
    }


def _small(number: float) -> str:
    """Two digits; what is rounding only, as such."""
    return "0" if number == 0 else "< 0.000001" if number < 1e-6 else f"{number:.2g}"


def classifier_value(text: Text) -> dict:
    """For table.js."""
    cached, uncached = (read_once(text.loaded.model, text.stored_ids, kind) for kind in ("dynamic", "none"))
    difference = float((cached.logits - uncached.logits).abs().max())
    rows = [
        ["tokens computed", f"{cached.num_fed:,}", f"{uncached.num_fed:,}"],
        ["multiply-adds", f"{cached.multiply_adds:,}", f"{uncached.multiply_adds:,}"],
        ["rows read from the cache", cached.rows_from_cache, uncached.rows_from_cache],
        ["kept afterwards", size_text(cached.kept_bytes), size_text(uncached.kept_bytes)],
        ["milliseconds, median of 5", f"{1000 * cached.seconds:.2f}", f"{1000 * uncached.seconds:.2f}"],
    ]
    note = f"Largest difference of a logit: {difference:.1g}."
    return {"columns": ["one pass", "cache on", "cache off"], "rows": rows, "note": note}


def training_value(text: Text) -> dict | None:
    """For table.js. A single token has no next one to learn."""
    if len(text.stored_ids) < 2:
        return None
    result = train_with_cache(text.loaded.model, text.stored_ids)
    rows = [
        ["loss, cache on", f"{result.loss:.4f} nats per token"],
        ["loss, difference to cache off", f"{result.loss_difference:.1g}"],
        [
            "gradients, largest difference",
            f"{result.gradient_difference:.1g} (largest gradient {result.gradient_size:.2g})",
        ],
        ["rows in layer 1 after the forward", result.rows_after_forward],
        ["and after computing it again", result.rows_after_recomputing],
    ]
    return {"columns": ["one training step", "measured"], "rows": rows}
