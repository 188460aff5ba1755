"""What the README tells a reader to type."""

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
    named = re.findall(r"\b\w+\.py\b", tree)
    there = {path.name for path in REPOSITORY.rglob("*.py") if ".venv" not in path.parts}
    assert len(named) > 15 and set(named) <= there
