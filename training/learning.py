"""The loop that pretraining and fine-tuning share: two optimisers, a cosine schedule, checkpoints, progress."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer

IGNORED = -100  # a target that costs nothing

# bfloat16 products make a step 1.6 times as fast where the processor has them; elsewhere they are emulated, slowly.
CPU_HAS_AVX512 = torch.backends.cpu.get_cpu_capability().startswith("AVX512")


@dataclass(frozen=True)
class Plan:
    name: str  # checkpoint and log carry it
    folder: Path
    steps: int
    learning_rate: float
    save_every: int
    stop_after: int | None = None  # as if interrupted there; used by the tests
    embedding_rate: float = 1.0  # learning rate of embedding and norms, as a share of that of the matrices


def best_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def loss_of(model: Transformer, inputs: Tensor, targets: Tensor) -> Tensor:
    """Mean negative log likelihood in nats per target token. inputs, targets (B, T)."""
    device = inputs.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda" or CPU_HAS_AVX512):
        logits = model(inputs, KVCache(model.config.num_layers, kind="none"))
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=IGNORED)


def optimisers(model: Transformer, plan: Plan) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for embedding and norms: better early on than AdamW alone."""
    embedding_rate = plan.learning_rate * plan.embedding_rate
    matrices = [parameter for name, parameter in model.named_parameters() if parameter.ndim == 2 and "blocks" in name]
    chosen = {id(parameter) for parameter in matrices}
    others = [parameter for parameter in model.parameters() if id(parameter) not in chosen]
    return [
        torch.optim.Muon(matrices, lr=plan.learning_rate, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=embedding_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def rate_at(step: int, steps: int) -> float:
    """The share of the learning rate: a short warm-up, then a cosine down to nothing."""
    warm_up = min(200, steps // 10 + 1)
    if step < warm_up:
        return (step + 1) / warm_up
    progress = (step - warm_up) / max(1, steps - warm_up)
    return (1 + math.cos(math.pi * progress)) / 2


def learn(model: Transformer, batch: Callable[[int], tuple[Tensor, Tensor]], plan: Plan) -> float:
    """Trains to the end of the plan, from the last checkpoint if there is one. Step n always sees `batch(n)`."""
    device = best_device()
    torch.set_float32_matmul_precision("high")
    model.to(device).requires_grad_(True)
    both = optimisers(model, plan)
    peaks = [optimiser.param_groups[0]["lr"] for optimiser in both]
    checkpoint = plan.folder / f"{plan.name}.checkpoint.pt"
    first = resume(checkpoint, model, both)
    last = min(plan.steps, plan.stop_after or plan.steps)
    progress = Progress(plan, first)
    for step in range(first, last):
        inputs, targets = (each.to(device) for each in batch(step))
        for optimiser, peak in zip(both, peaks, strict=True):
            for group in optimiser.param_groups:
                group["lr"] = peak * rate_at(step, plan.steps)
        loss = loss_of(model, inputs, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser in both:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        progress.tell(step, loss, inputs.numel())
        if (step + 1) % plan.save_every == 0 or step + 1 == last:
            save(checkpoint, model, both, step + 1)
    return progress.smooth_loss


def save(checkpoint: Path, model: Transformer, both: list[torch.optim.Optimizer], step: int) -> None:
    state = {"step": step, "model": model.state_dict(), "optimisers": [each.state_dict() for each in both]}
    torch.save(state, checkpoint.with_suffix(".new"))
    checkpoint.with_suffix(".new").replace(checkpoint)  # an interruption never leaves half a file


def resume(checkpoint: Path, model: Transformer, both: list[torch.optim.Optimizer]) -> int:
    if not checkpoint.exists():
        return 0
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    for optimiser, saved in zip(both, state["optimisers"], strict=True):
        optimiser.load_state_dict(saved)
    return state["step"]


class Progress:
    """One line now and then: step, loss (a running mean), tokens per second, time left."""

    def __init__(self, plan: Plan, first: int):
        self.plan, self.first, self.started = plan, first, time.perf_counter()
        self.tokens, self.smooth_loss, self.last_told = 0, math.nan, 0.0

    def tell(self, step: int, loss: Tensor, tokens: int) -> None:
        self.tokens += tokens
        every = max(1, self.plan.steps // 200)
        if step % every and step + 1 != self.plan.steps:
            return
        value = loss.item()  # waits for the device: not at every step
        self.smooth_loss = value if math.isnan(self.smooth_loss) else 0.8 * self.smooth_loss + 0.2 * value
        seconds = time.perf_counter() - self.started
        if seconds - self.last_told > 5 or step + 1 == self.plan.steps:
            self.last_told = seconds
            left = seconds / (step + 1 - self.first) * (self.plan.steps - step - 1)
            print(
                f"{self.plan.name}: step {step + 1}/{self.plan.steps}  loss {self.smooth_loss:.3f}  "
                f"{self.tokens / seconds:,.0f} tokens/s  {left / 60:.1f} minutes left", flush=True,
            )  # fmt: skip
