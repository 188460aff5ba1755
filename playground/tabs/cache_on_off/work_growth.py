"""How the work grows with the answer, exactly: of each step, with and without the cache, for two prompt lengths."""

from playground.engine.model import Transformer
from playground.engine.work import fed_per_step, pass_multiply_adds

PROMPTS = (4, 183)  # tokens: so few that the answer decides, and the course's
MOST_NEW = 256


def work_growth(model: Transformer) -> dict:
    """For work_growth.js, by prompt length: for each side what every step computes. And what a recurrent network of the
    same size would keep."""
    config, size = model.config, model.embedding.element_size()
    return {
        "prompts": [
            {
                "length": length,
                **{side: _work(config, length, side == "on") for side in ("on", "off")},
            }
            for length in PROMPTS
        ],
        "layers": config.num_layers,
        "hidden": config.hidden_size,
        "bytes_per_token": 2 * config.num_layers * config.num_kv_heads * config.head_dim * size,
        "state_bytes": 2 * config.num_layers * config.hidden_size * size,  # of an LSTM: two vectors a layer
    }


def _work(config, prompt_length: int, cached: bool) -> dict[str, list[int]]:
    num_new = max(1, min(MOST_NEW, config.max_positions - prompt_length))
    fed = fed_per_step(prompt_length, num_new, cached)
    work = [pass_multiply_adds(config, num_fed, prompt_length + step) for step, num_fed in enumerate(fed)]
    return {
        "tokens": fed,
        "projections": [each.projections for each in work],
        "attention": [each.attention for each in work],
        "multiply_adds": [each.total for each in work],
    }
