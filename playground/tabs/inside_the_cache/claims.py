"""What is often read about the cache, whether it is so, and where on this page that can be seen."""

from typing import NamedTuple

from playground.words import told

WRONG, PARTLY = "wrong", "partly"


class Claim(NamedTuple):
    """Its words are inside_the_cache.claim.<name> in the catalogue."""

    name: str
    verdict: str
    part: str  # of this tab, or ON_OFF
    reason: str = ""  # which of the reasons of "Why caching is safe" is to be chosen there


ON_OFF = ""  # another tab shows it
CLAIMS = [
    Claim("feed_forward", WRONG, "keeping", "weights"),
    Claim("next_layer", WRONG, "keeping"),
    Claim("depth", WRONG, "growth"),
    Claim("mask_irrelevant", WRONG, "keeping", "mask"),
    Claim("mask_each_step", WRONG, "heads"),
    Claim("mask_multiplied", WRONG, "attention"),
    Claim("embeddings", WRONG, "walk"),
    Claim("at_once", WRONG, "growth"),
    Claim("exponential", WRONG, ON_OFF),
    Claim("linear", PARTLY, ON_OFF),
    Claim("times_faster", PARTLY, ON_OFF),
    Claim("recurrent", WRONG, "reads"),
    Claim("parameters", WRONG, "size"),
    Claim("concatenated", PARTLY, "size"),
    Claim("all_heads", PARTLY, "heads"),
    Claim("every_task", PARTLY, "reads"),
    Claim("training", PARTLY, "reads"),
    Claim("paper", WRONG, "growth"),
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
                "tab": told("inside_the_cache.tab.title" if claim.part else "cache_on_off.tab"),
                "part": told(f"inside_the_cache.tab.{claim.part}") if claim.part else None,
                "reason": claim.reason,
            }
            for claim in CLAIMS
        ],
        "reading": [
            {"title": told(f"inside_the_cache.reading.{name}"), "address": address} for name, address in READING.items()
        ],
    }
