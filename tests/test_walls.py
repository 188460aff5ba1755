"""Who may know whom: a step downstairs, never up. docs/architecture.md says why."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "playground"
PYTHON = sorted(PACKAGE.rglob("*.py"))
JAVASCRIPT = sorted(PACKAGE.rglob("*.js"))

FLOORS = ["engine", "models", "page", "tabs"]  # from the ground up
LEAVES = {"assets", "numbers", "style", "words"}  # modules of the package itself that every floor may use
LENDS_TO_THE_FIRST_TAB = {"thirty_answers", "cache_on_off"}

# A file in a tab's folder is an experiment (plain data out) unless it is one of these.
FOR_THE_PAGE = re.compile(r"(tab|\w+_part|values|\w+_values|questions|figures|__init__)\.py")
# Plotly draws here; browser_files.py hands its script to the browser. Others take the type `Figure` from these.
KNOWS_PLOTLY = re.compile(r"playground/(style|models/figure|page/panel|page/browser_files|tabs/\w+/figures)\.py")


def imports_of(path: Path) -> set[str]:
    """Full names of all that a file imports, also inside functions: `playground.page.bar.Page`, `torch.Tensor`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def modules_of(path: Path) -> list[str]:
    """The folders and the file inside the package: tabs/one_answer/fork.py is ["tabs", "one_answer", "fork"]."""
    return list(path.relative_to(PACKAGE).with_suffix("").parts)


def inside(path: Path) -> Iterator[list[str]]:
    """Of the imports of a file those from this package, without the package's own name."""
    for name in imports_of(path):
        if name.startswith("playground."):
            yield name.split(".")[1:]


def libraries(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports_of(path)}


def named(paths: list[Path]) -> dict[str, object]:
    """Keyword arguments that run a test once for each file, under its name."""
    return {"argvalues": paths, "ids": lambda path: str(path.relative_to(PACKAGE))}


ON_A_FLOOR = [path for path in PYTHON if modules_of(path)[0] in FLOORS]
IN_A_TAB = [path for path in PYTHON if modules_of(path)[0] == "tabs" and len(modules_of(path)) > 2]
EXPERIMENTS = [path for path in IN_A_TAB if not FOR_THE_PAGE.fullmatch(path.name)]


@pytest.mark.parametrize("path", **named(ON_A_FLOOR))
def test_a_file_uses_its_own_floor_and_those_below(path: Path):
    floor = FLOORS.index(modules_of(path)[0])
    allowed = {*FLOORS[: floor + 1], *LEAVES}
    assert not [".".join(used) for used in inside(path) if used[0] not in allowed]


@pytest.mark.parametrize("path", **named([path for path in PYTHON if modules_of(path)[0] in LEAVES]))
def test_what_every_floor_uses_uses_no_floor(path: Path):
    assert not [".".join(used) for used in inside(path) if used[0] not in LEAVES]


@pytest.mark.parametrize("path", **named(IN_A_TAB))
def test_a_tab_knows_no_other_tab(path: Path):
    tab = modules_of(path)[1]
    lenders = LENDS_TO_THE_FIRST_TAB if tab == "playground" else set()
    others = {used[1] for used in inside(path) if used[0] == "tabs"} - {tab} - lenders
    assert not others


@pytest.mark.parametrize("path", **named(EXPERIMENTS))
def test_an_experiment_gives_plain_data(path: Path):
    assert not libraries(path) & {"gradio", "plotly"}


@pytest.mark.parametrize("path", **named([path for path in PYTHON if path.name == "figures.py"]))
def test_a_figure_is_drawn_from_plain_data(path: Path):
    assert not [used for used in inside(path) if used[0] in FLOORS and used[:2] != modules_of(path)[:2]]
    assert "torch" not in libraries(path)


def test_plotly_is_known_where_pictures_are_drawn():
    knowing = [str(path.relative_to(REPOSITORY)) for path in PYTHON if "plotly" in libraries(path)]
    assert knowing and not [path for path in knowing if not KNOWS_PLOTLY.fullmatch(path)]


@pytest.mark.parametrize("path", **named([path for path in PYTHON if modules_of(path)[0] == "engine"]))
def test_the_engine_knows_token_ids_only(path: Path):
    assert not libraries(path) & {"gradio", "plotly", "pandas", "tokenizers", "transformers"}


@pytest.mark.parametrize("path", **named(JAVASCRIPT))
def test_a_script_knows_its_own_folder_and_the_page_s(path: Path):
    """page/js knows no tab; a tab's module knows its own folder and page/js, and the first tab two more."""
    source = path.read_text()
    addresses = re.findall(r"""(?:\bfrom\s+|\bimport\s+|\bimport\()["']([^"']+)["']""", source)
    folders = {(path.parent / address).resolve().parent for address in addresses}
    lent = {PACKAGE / "tabs" / name for name in LENDS_TO_THE_FIRST_TAB} if path.parent.name == "playground" else set()
    assert folders <= {path.parent, PACKAGE / "page" / "js", *lent}


def test_the_walls_look_at_the_files_that_are_there():
    """Renamed, a folder would leave its wall guarding nothing."""
    assert {modules_of(path)[0] for path in ON_A_FLOOR} == set(FLOORS)
    assert {path.parent.name for path in EXPERIMENTS} >= {"one_answer", *LENDS_TO_THE_FIRST_TAB, "inside_the_cache"}
    assert {path.parent for path in JAVASCRIPT} > {PACKAGE / "page" / "js"}
    assert imports_of(PACKAGE / "build.py") >= {"gradio", "playground.style"}
