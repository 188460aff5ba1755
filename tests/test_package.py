"""The package as pip installs it: it works where the repository is not."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
NEEDED = ["pyproject.toml", "setup.py", "requirements.txt", "playground", "assets"]

ANSWER_AND_PAGE = """
from pathlib import Path
import playground
from playground.__main__ import build, launch_options
from playground import SamplingParams, generate, load_model

assert Path(playground.__file__).is_relative_to({site!r}), playground.__file__
chat = load_model("minimind-chat")
prompt_ids = chat.prompt_ids("What is the capital of France?")
steps = generate(chat.model, prompt_ids, SamplingParams(temperature=0), max_new_tokens=16, stop_ids=chat.stop_ids)
print(chat.tokenizer.decode([step.token_id for step in steps]))

build()
assert launch_options()["css"]
from playground.page.browser_files import BrowserFiles

assert "page/js/main.js" in BrowserFiles().scripts

import runpy, sys

sys.argv[1:] = ["--help"]
runpy.run_module("playground", run_name="__main__", alter_sys=True)
"""


def pip(*arguments: str | Path, cwd: Path) -> None:
    """Without a network; what it needs is in this environment."""
    quiet = ["--no-index", "--no-deps", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", *arguments, *quiet]
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy: a build leaves files in the folder that it is started on."""
    copy = tmp_path_factory.mktemp("copy")
    for name in NEEDED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    pip("wheel", "--no-build-isolation", "--wheel-dir", "dist", ".", cwd=copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory) -> Path:
    """Where the wheel is installed, and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    pip("install", "--target", folder, wheel, cwd=folder)
    return folder


def test_the_wheel_holds_what_the_page_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    for path in (REPOSITORY / "assets").rglob("*.*"):
        name = f"playground/_assets/{path.relative_to(REPOSITORY / 'assets').as_posix()}"
        assert (name in inside) == (path.suffix != ".png"), name
    for path in (path for path in (REPOSITORY / "playground").rglob("*.*") if path.suffix in (".py", ".js", ".css")):
        assert path.relative_to(REPOSITORY).as_posix() in inside
    assert {name.split("/")[0] for name in inside if ".dist-info" not in name} == {"playground"}


def test_the_wheel_asks_for_what_requirements_txt_says(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        asked = [line for line in archive.read(path).decode().splitlines() if line.startswith("Requires-Dist")]
    lines = (REPOSITORY / "requirements.txt").read_text().splitlines()
    assert len(asked) == sum(1 for line in lines if line and not line.startswith("#"))


def test_an_answer_is_written_and_the_page_started_where_the_repository_is_not(site, tmp_path):
    """In an empty folder, with this environment's packages and the installed one."""
    ended = subprocess.run(
        [sys.executable, "-c", ANSWER_AND_PAGE.format(site=str(site))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    answer, usage = ended.stdout.split("\n", 1)
    assert "Paris" in answer
    assert usage.startswith("usage: ") and "minimind-chat" in usage
    assert not list(tmp_path.iterdir())
