"""What is installed is known: bounded above, locked with hashes, and each lock agrees with what it locks."""

import json
import re
import runpy
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).parents[1]
SERVER = {"extra": "", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"}


def requirements(name: str = "requirements.txt") -> list[Requirement]:
    lines = (REPOSITORY / name).read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def locked() -> dict[str, tuple[Version, list[str]]]:
    """Version and hashes of every package."""
    text = (REPOSITORY / "requirements.lock").read_text()
    entries = re.findall(r"^(\S+)==(\S+) ((?:\\\n +--hash=\S+ ?)+)$", text, re.MULTILINE)
    assert text.count("==") == len(entries)
    return {name: (Version(version), re.findall(r"--hash=(\S+)", hashes)) for name, version, hashes in entries}


def test_what_an_api_of_others_may_break_has_an_upper_bound():
    tools = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["dependency-groups"]["test"]
    for requirement in (*requirements(), *map(Requirement, tools)):
        assert any(each.operator in ("<", "==", "<=") for each in requirement.specifier), requirement


def test_the_lock_has_what_requirements_txt_asks_for():
    versions = locked()
    for requirement in requirements():
        version, _ = versions[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, requirement


def test_every_file_is_known_by_its_hash_and_none_by_its_address():
    for name, (_, hashes) in locked().items():
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), name
    assert "://" not in (REPOSITORY / "requirements.lock").read_text()


def needed(requirement: Requirement, seen: set[str]) -> Iterator[str]:
    """By what is installed here: the package, and all that it asks for on such a server."""
    name = canonicalize_name(requirement.name)
    key = f"{name}[{','.join(sorted(requirement.extras))}]"
    if key in seen:
        return
    seen.add(key)
    yield name
    try:
        asked = map(Requirement, requires(name) or ())
    except PackageNotFoundError:  # of another platform
        return
    for each in asked:
        extras = requirement.extras or {""}
        if each.marker is None or any(each.marker.evaluate(SERVER | {"extra": extra}) for extra in extras):
            yield from needed(each, seen)


def test_the_lock_leaves_nothing_out():
    """A package that it lacks would be refused where hashes are asked for, or fetched unknown where they are not."""
    seen: set[str] = set()
    names = {name for requirement in requirements() for name in needed(requirement, seen)}
    assert len(names) > 40 and not names - locked().keys()


def test_the_notices_of_the_data_lie_beside_the_weights():
    """A wheel, or somebody who takes the model alone, has them too."""
    card = (REPOSITORY / "assets" / "model" / "README.md").read_text()
    licence = (REPOSITORY / "LICENSE").read_text()
    for words in ("GeoNames", "CC BY 4.0", "Ramiro Gómez", "Regents of the University of California", "WordNet 3.0"):
        assert words in card and words in licence


ONE = {"name": "gradio", "version": "6.31.0", "vulns": []}
UNKNOWN = {"name": "torch", "skip_reason": "Dependency not found"}
FOUND = ONE | {"vulns": [{"id": "PYSEC-1"}]}


@pytest.mark.parametrize(
    ("packages", "said", "code"),
    [
        ("no JSON", "The packages were not audited", 0),
        ([UNKNOWN], "The packages were not audited", 0),
        ([ONE, UNKNOWN], "1 packages audited, 1 not known there, 0 vulnerabilities.", 0),
        ([FOUND, ONE], "gradio 6.31.0: PYSEC-1\n2 packages audited", 1),
    ],
)
def test_an_audit_without_data_is_no_audit(packages, said: str, code: int):
    """Where nothing can be reached, pip-audit skips every package and finds "no known vulnerabilities"."""
    verdict = runpy.run_path(str(REPOSITORY / ".ci" / "audit"))["verdict"]
    report = packages if isinstance(packages, str) else json.dumps({"dependencies": packages})
    words, given = verdict(report)
    assert words.startswith(said) and given == code
