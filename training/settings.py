"""The recipe: every number that decides what comes out, in one place."""

from dataclasses import dataclass, replace
from pathlib import Path

from playground.engine.model import ModelConfig

REPOSITORY = Path(__file__).resolve().parent.parent
MODEL_FOLDER = REPOSITORY / "assets" / "model"


@dataclass(frozen=True)
class Recipe:
    folder: Path = REPOSITORY / "training" / "runs"  # ignored by git: texts, checkpoints, logs
    seed: int = 1
    vocab_size: int = 3072
    trained_length: int = 512
    base_tokens: int = 30_000_000
    chat_tokens: int = 8_000_000
    batch_sequences: int = 8  # of trained_length tokens each
    batch_chat_tokens: int = 2560  # of conversations, padding included
    base_learning_rate: float = 4e-3
    chat_learning_rate: float = 2e-3
    # AdamW scales up even the faintest gradients. At the full rate, the embeddings of words that no answer holds drift
    # through the fine-tuning, and at temperature 1 such words are drawn ("You could call it monkey"). At 0.1 fewer of
    # them come, but questions in fresh wordings are understood less.
    chat_embedding_rate: float = 0.3  # as a share of the chat learning rate
    initial_std: float = 0.02
    save_every: int = 500  # steps between two checkpoints

    @property
    def base_steps(self) -> int:
        return self.base_tokens // (self.batch_sequences * self.trained_length)

    def file(self, name: str) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / name


# Tokens per source in the base text. Real prose stays babble at this size, so half of the text is our own stories;
# but a source that is seen less than about four times does not beat a 5-gram model of itself clearly.
SHARES = {"stories": 0.52, "facts": 0.13, "questions": 0.05, "bible": 0.09, "wordnet": 0.09, "austen": 0.12}


def quick(recipe: Recipe) -> Recipe:
    """Six steps of everything: enough to see that the parts fit, far too few to learn English."""
    return replace(
        recipe, base_tokens=6 * 4 * 128, chat_tokens=6 * 512, batch_sequences=4, batch_chat_tokens=512,
        trained_length=128, save_every=4,
    )  # fmt: skip


def model_config(vocab_size: int) -> ModelConfig:
    """MiniMind-3's shape with the course's numbers: 4 layers, 2 KV heads, head size 32."""
    return ModelConfig(
        vocab_size=vocab_size,
        hidden_size=128,
        num_layers=4,
        num_heads=4,
        num_kv_heads=2,
        head_dim=32,
        intermediate_size=448,  # ceil(128 * pi / 64) * 64, as MiniMind-3 rounds it
        rope_theta=1e6,
        rms_norm_eps=1e-6,
        max_positions=2048,
        qk_norm=True,
        qkv_bias=False,
        tie_embeddings=True,
    )
