"""What the README and docs/ tell a reader to type, and the files that they name."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text()


def test_the_notebook_snippet_runs_as_it_stands(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys):
    (snippet,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(snippet, "README.md", "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == names["trace"].text.splitlines()[0] != ""
    assert names["trace"].text.split()[0] in names["trace"]._repr_html_()
    assert [path.name for path in tmp_path.iterdir()] == ["answer.html"]
    assert "Paris" in "".join(re.findall(r"^(.*) \d+$", "\n".join(lines), re.MULTILINE))
    assert sum(bool(re.match(r"\d+\.\d\d% ", line)) for line in lines) == 30


def test_every_file_that_the_tree_names_is_there():
    tree = README.split("## What lies where")[1]
    named = re.findall(r"\b(?<!\*)\w+\.(?:py|md|toml|json|css|txt)\b", tree)
    there = [path for path in REPOSITORY.rglob("*.*") if not {".venv", "node_modules"} & set(path.parts)]
    assert len(named) > 50 and not set(named) - {path.name for path in there}


@pytest.mark.parametrize("name", ["architecture.md", "style.md", "questions.md"])
def test_every_path_that_the_docs_name_is_there(name: str):
    quoted = re.findall(r"`([^`\n]+)`", (REPOSITORY / "docs" / name).read_text())
    folders = [REPOSITORY, *(REPOSITORY / "playground" / folder for folder in ("", "page", "page/js"))]
    paths = [each for each in quoted if re.fullmatch(r"[\w/]+(\.(py|js|toml|md|css)|/)", each)]
    missing = [path for path in paths if not any((folder / path).exists() for folder in folders)]
    here = [path for path in missing if "/" in path or not any((REPOSITORY / "playground").rglob(path))]
    assert not here


def test_every_tab_is_in_the_tree():
    tree = README.split("## What lies where")[1]
    tabs = [folder.name for folder in (REPOSITORY / "playground" / "tabs").iterdir() if (folder / "tab.py").exists()]
    assert len(tabs) >= 5 and all(f"{tab}/" in tree for tab in tabs)
