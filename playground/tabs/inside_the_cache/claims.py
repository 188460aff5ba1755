"""What is often read about the cache, whether it is so, and where on this page that can be seen."""

from typing import NamedTuple

from playground.words import told

WRONG, PARTLY = "wrong", "partly"


class Claim(NamedTuple):
    """Its words are inside_the_cache.claim.<name> in the catalogue."""

    name: str
    verdict: str
    tab: str  # of the page
    part: str  # of this tab, the id of its sub-tab; "" for another tab
    reason: str = ""  # which of the reasons of "Why caching is safe" is to be chosen there


HERE, ON_OFF = "cache", "race"
CLAIMS = [
    Claim("feed_forward", WRONG, HERE, "keeping", "weights"),
    Claim("next_layer", WRONG, HERE, "keeping"),
    Claim("depth", WRONG, HERE, "growth"),
    Claim("mask_irrelevant", WRONG, HERE, "keeping", "mask"),
    Claim("mask_each_step", WRONG, HERE, "heads"),
    Claim("mask_multiplied", WRONG, HERE, "attention"),
    Claim("embeddings", WRONG, HERE, "walk"),
    Claim("at_once", WRONG, HERE, "growth"),
    Claim("exponential", WRONG, ON_OFF, ""),
    Claim("linear", PARTLY, ON_OFF, ""),
    Claim("times_faster", PARTLY, ON_OFF, ""),
    Claim("recurrent", WRONG, HERE, "reads"),
    Claim("parameters", WRONG, HERE, "size"),
    Claim("concatenated", PARTLY, HERE, "size"),
    Claim("all_heads", PARTLY, HERE, "heads"),
    Claim("every_task", PARTLY, HERE, "reads"),
    Claim("training", PARTLY, HERE, "reads"),
    Claim("paper", WRONG, HERE, "growth"),
]
# Their words are inside_the_cache.reading.<name>.
READING = {
    "attention": "https://arxiv.org/abs/1706.03762",
    "multi_query": "https://arxiv.org/abs/1911.02150",
    "grouped": "https://arxiv.org/abs/2305.13245",
    "paged": "https://arxiv.org/abs/2309.06180",
    "sinks": "https://arxiv.org/abs/2309.17453",
    "heavy_hitters": "https://arxiv.org/abs/2306.14048",
    "kivi": "https://arxiv.org/abs/2402.02750",
    "illustrated": "https://jalammar.github.io/illustrated-transformer/",
    "illustrated_gpt2": "https://jalammar.github.io/illustrated-gpt2/",
    "hugging_face": "https://huggingface.co/docs/transformers/cache_explanation",
    "hugging_face_blog": "https://huggingface.co/blog/not-lain/kv-caching",
}


def claims_value() -> dict:
    """For claims.js."""
    return {
        "claims": [
            {
                "said": told(f"inside_the_cache.claim.{claim.name}.said"),
                "so": told(f"inside_the_cache.claim.{claim.name}.so"),
                "verdict": told(f"inside_the_cache.claim_verdict.{claim.verdict}"),
                **{key: getattr(claim, key) for key in ("name", "tab", "part", "reason")},
            }
            for claim in CLAIMS
        ],
        "reading": [
            {"title": told(f"inside_the_cache.reading.{name}"), "address": address} for name, address in READING.items()
        ],
    }
