"""python -m training: everything from nothing. A stage whose result is there already is not repeated."""

import argparse
from collections.abc import Callable
from pathlib import Path

from training.corpus import build_corpus
from training.evaluate import evaluate
from training.export import export
from training.fetch import fetch
from training.finetune import finetune
from training.pretrain import pretrain
from training.settings import MODEL_FOLDER, Recipe, quick
from training.tokenizer import load_tokenizer, train_tokenizer


def tokenizer_stage(recipe: Recipe) -> None:
    if not recipe.file("tokenizer.json").exists():
        train_tokenizer(recipe)


def corpus_stage(recipe: Recipe) -> None:
    if not recipe.file("base_starts.bin").exists():
        build_corpus(recipe, load_tokenizer(recipe))


def stages(output: Path) -> dict[str, Callable[[Recipe], object]]:
    return {
        "fetch": fetch,
        "tokenizer": tokenizer_stage,
        "corpus": corpus_stage,
        "pretrain": pretrain,
        "finetune": finetune,
        "export": lambda recipe: export(recipe, output),
        "evaluate": lambda recipe: evaluate() if output == MODEL_FOLDER else None,
    }


def main(arguments: list[str] | None = None) -> None:
    names = list(stages(MODEL_FOLDER))
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("stage", nargs="*", choices=[*names, []], help="only these stages (all, if none is named)")
    parser.add_argument("--quick", action="store_true", help="six steps of everything, to see that it works")
    parser.add_argument("--folder", type=Path, default=Recipe.folder, help="texts, checkpoints (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=MODEL_FOLDER, help="the model (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    recipe = Recipe(folder=chosen.folder)
    if chosen.quick:
        recipe = quick(recipe)
    for name, stage in stages(chosen.output).items():
        if not chosen.stage or name in chosen.stage:
            print(f"-- {name}", flush=True)
            stage(recipe)


if __name__ == "__main__":
    main()
