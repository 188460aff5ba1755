"""The catalogue: what is said exists, what exists is said, and no sentence is left in code."""

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from playground import words

REPOSITORY = Path(__file__).parents[1]
PLAYGROUND = REPOSITORY / "playground"

# Folders and files, from playground/ on, whose sentences still stand in code. It gets shorter, never longer.
UNFINISHED: list[str] = []
# Files whose words are not for the catalogue.
OWN_WORDS = {
    "words.py": "what is wrong with a text can't be said by a text",
    "page/js/words.js": "the same",
}
# Literals that look like words and are none.
NO_WORDS = {
    "DejaVu Sans Mono": "a font",
    "IBM Plex Sans": "a font",
    "IBM Plex Sans, DejaVu Sans, sans-serif": "fonts",
    "recorded run of the decoding playground": "what a saved run is known by",
    "stop token": "the name of a reason to stop; [stop_reason] of page.toml has its words",
    "context full": "the same",
    "stopped by hand": "the same",
    "Fuse": "what a tokenizer file calls a step of its decoder",
    "Metaspace": "the same",
    "Replace": "the same",
    "Strip": "the same",
    "String": "what a tokenizer file calls a plain text to look for",
    "(prefers-reduced-motion: reduce)": "a question of CSS",
    "model name": "an entry of /proc/cpuinfo",
    "case {}": "a seed",
    "Authorization": "a header of HTTP",
    "Bearer {}": "its value",
    "top center": "a place, for Plotly",
    "False": "read by Gradio from the environment",
}
# Arguments and keys that take names and code, never words.
NOT_READ = {"elem_classes", "elem_id", "js", "css", "head", "id", "html_template", "js_on_load", "variant", "class"}
NOT_READ |= {"hovermode", "key"}  # the key of a keyboard, or of a text


@dataclass(frozen=True)
class Literal:
    """A string in code; {} stands where something is filled in. `said`: the facts, where it is the key of a text."""

    path: str  # from playground/ on
    line: int
    text: str
    is_read: bool  # it may be something that a person reads
    says: bool = False
    facts: frozenset[str] | None = None  # None: not known here


# ---- the strings of Python


def python_literals(path: str, source: str) -> Iterator[Literal]:
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    annotations = {
        inner
        for node in ast.walk(tree)
        for name in ("annotation", "returns")
        if getattr(node, name, None) is not None
        for inner in ast.walk(getattr(node, name))
    }
    for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
        text, parent = _python_text(node), parents.get(node)
        if text is None or isinstance(parent, ast.JoinedStr | ast.Expr) or node in annotations:
            continue
        call = parent if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node else None
        name = ast.unparse(call.func).split(".")[-1] if call else ""
        says, is_name = name in ("say", "told"), name == "TypeVar"
        facts = None
        if says and all(keyword.arg for keyword in call.keywords):
            facts = frozenset(keyword.arg for keyword in call.keywords)
        if name == "read_lesson":
            yield Literal(path, node.lineno, f"{text}.lesson.", False)
        yield Literal(path, node.lineno, text, not (says or is_name or _is_code(node, parents)), says, facts)


def _python_text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def _is_code(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether it stands in an argument or an entry that takes no words, or in __all__."""
    while node in parents and not isinstance(node, ast.stmt):
        parent = parents[node]
        if isinstance(parent, ast.keyword) and parent.arg in NOT_READ:
            return True
        if isinstance(parent, ast.Dict):
            key = next((key for key, value in zip(parent.keys, parent.values, strict=True) if value is node), None)
            if isinstance(key, ast.Constant) and key.value in NOT_READ:
                return True
        node = parent
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


# ---- the strings of JavaScript, as TypeScript's parser reads them

LIST_STRINGS = """
import { readFileSync } from "node:fs";
import ts from "typescript";
const found = [];
for (const path of JSON.parse(readFileSync(0, "utf8"))) {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2022, true);
  const visit = (node) => {
    const text = ts.isStringLiteralLike(node) ? node.text : ts.isTemplateExpression(node)
      ? node.head.text + node.templateSpans.map((span) => `{}${span.literal.text}`).join("") : null;
    if (text !== null) found.push({ path, text, line: file.getLineAndCharacterOfPosition(node.pos).line + 1,
                                    ...place(node) });
    ts.forEachChild(node, visit);
  };
  visit(file);
}
function place(node) {
  const { parent } = node;
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return { call: "import" };
  if (ts.isPropertyAssignment(parent) && parent.initializer === node) return { key: parent.name.text };
  if (ts.isBinaryExpression(parent) && /^[!=]==$/.test(parent.operatorToken.getText())) return { call: "compared" };
  if (ts.isNewExpression(parent)) return { call: `new ${parent.expression.getText()}` };
  if (!ts.isCallExpression(parent)) return {};
  const given = parent.arguments[1];
  const known = !given || (ts.isObjectLiteralExpression(given) && given.properties.every((each) => each.name));
  return { call: parent.expression.getText(), argument: parent.arguments.indexOf(node),
           facts: known ? (given?.properties ?? []).map((each) => each.name.text) : null };
}
console.log(JSON.stringify(found));
"""
# Calls whose strings are selectors, names of events and attributes, or for the console, where errors end too.
CODE_CALLS = re.compile(
    r"^import$|^compared$|^new \w*Error$|^console\.|\.(querySelector\w*|closest|matches|addEventListener|setProperty)$"
)


def javascript_literals(paths: list[Path]) -> Iterator[Literal]:
    """Needs what `npm ci` installs."""
    command = ["node", "--input-type=module", "-e", LIST_STRINGS]
    given = json.dumps([str(path) for path in paths])
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=REPOSITORY, timeout=120)
    assert done.returncode == 0, done.stderr
    for one in json.loads(done.stdout):
        call, first = one.get("call", ""), one.get("argument") == 0
        says = first and re.search(r"(^|\.)say$", call) is not None
        is_kind = first and call in ("node", "svg")  # node("div.row", ...)
        is_read = not (says or is_kind or CODE_CALLS.search(call) or one.get("key") in NOT_READ)
        facts = frozenset(one["facts"]) if says and one.get("facts") is not None else None
        path = Path(one["path"]).relative_to(PLAYGROUND).as_posix()
        yield Literal(path, one["line"], one["text"], is_read, says, facts)


def style_literals(path: str, source: str) -> Iterator[Literal]:
    """What a style sheet writes on the page."""
    for found in re.finditer(r"content:\s*(['\"])(.*?)\1", source):
        yield Literal(path, source[: found.start()].count("\n") + 1, found[2], bool(re.search("[A-Za-z]{2}", found[2])))


@cache
def literals() -> list[Literal]:
    found = []
    for path in sorted(PLAYGROUND.rglob("*.py")):
        found += python_literals(path.relative_to(PLAYGROUND).as_posix(), path.read_text(encoding="utf-8"))
    for path in sorted(PLAYGROUND.rglob("*.css")):
        found += style_literals(path.relative_to(PLAYGROUND).as_posix(), path.read_text(encoding="utf-8"))
    return [*found, *javascript_literals(sorted(PLAYGROUND.rglob("*.js")))]


# ---- what reads like words

WORD = r"[“(‘>]?[A-Za-z]?[a-z]+(?:[-’'][a-z]+)*[”)’]?[.,:;!?…]?"
SEVERAL = re.compile(rf"(?:^|(?<=[\s>])){WORD}(?: (?:\{{\}}|[\d.,]+))* {WORD}(?=[\s<]|$)")
ALONE = re.compile(r"^\W*[A-Z][a-z]+(?:-[a-z]+)?\W*$")
FILLED_IN = re.compile(r"^\W*\{\} [a-z]{3,}|[a-z]{3,}[.,:]? \{\}\W*$")  # "{} tokens", "step {}"


def reads_like_words(text: str) -> bool:
    """Several words, one with a capital letter, or a word beside what is filled in; no code, no selector, no key."""
    if re.search(r"\[[\w-]+[=\]]|[{}]{3}|=>|===|\$\{|;\s*\w+:|var\(|(?:^|\s)--\w+$", text):
        return False
    return bool(SEVERAL.search(text) or ALONE.search(text) or FILLED_IN.search(text))


def sentences() -> list[Literal]:
    return [
        one
        for one in literals()
        if one.is_read and one.path not in OWN_WORDS and one.text not in NO_WORDS and _is_words(one)
    ]


def _is_words(one: Literal) -> bool:
    return one.path.endswith(".css") or reads_like_words(one.text)


# ---- the tests


def test_every_text_can_be_read():
    for key, text in words.catalogue().items():
        assert re.fullmatch(r"[\w.-]+", key), f"{key}: letters, digits, _ and - only"
        assert text.strip() == text and text, key
        words.parse(text)


def test_no_sentence_is_left_in_code():
    left = [one for one in sentences() if not one.path.startswith(tuple(UNFINISHED))]
    assert not left, "\n" + "\n".join(f"{one.path}:{one.line}: {one.text!r}" for one in left)


def test_what_is_finished_is_not_called_unfinished():
    paths = {one.path for one in sentences()}
    assert [folder for folder in UNFINISHED if not any(path.startswith(folder) for path in paths)] == []


def test_an_exception_is_still_needed():
    texts = {one.text for one in literals()}
    assert [text for text in NO_WORDS if text not in texts or not reads_like_words(text)] == []
    assert all((PLAYGROUND / path).is_file() for path in OWN_WORDS)


@pytest.mark.parametrize(
    "text",
    ["The prompt is empty.", "Generate", "step {}", "{} tokens", "kept, {} of the mass", "not used here", "Top-p",
     "the “first” token", "“Run” was pressed", "shorten it: {} tokens", "Cache on / off", "<b>two words</b>"],
)  # fmt: skip
def test_what_a_person_reads_is_noticed(text):
    assert reads_like_words(text)


@pytest.mark.parametrize(
    "text",
    ["top_p", "page.controls.top_p", "div.row.wide", "input[type=range]", "M{} {}h0", "translate({}, {})", "0 0 24 24",
     "scripts/page/js/main.js", "var(--kept)", "utf-8", "(a, b) => [a, b]", "{}px", "--share", "aria-label",
     "a[href], button:not([disabled]), select"],
)  # fmt: skip
def test_code_is_not_taken_for_words(text):
    assert not reads_like_words(text)


def test_the_judge_sees_the_sentences_of_python():
    source = '''"""A docstring is none."""
def f(x: "A Type With Words"):
    """Nor is this one."""
    raise ValueError(f"a value like {x!r} is wrong")
button = gr.Button("Generate", elem_classes="card wide")
told = say("page.bar.model", name="A Name Given")
Kind = TypeVar("Kind")
'''
    found = [one for one in python_literals("x.py", source) if one.is_read and reads_like_words(one.text)]
    assert [one.text for one in found] == ["a value like {} is wrong", "Generate", "A Name Given"]
    (said,) = [one for one in python_literals("x.py", source) if one.says]
    assert said.text == "page.bar.model" and said.facts == {"name"}


def test_the_judge_sees_the_sentences_of_javascript(monkeypatch, tmp_path):
    (tmp_path / "x.js").write_text(
        'import { a } from "./Some Words.js"; // A comment is none\n'
        'node("div.Two Words", { title: "A title here" }, null, `${a} tokens`);\n'
        'element.querySelector("a b c"); console.error("only developers read");\n'
        'if (event.key === "Enter") throw new Error("only developers read");\n'
        'words.say("page.x", { count: 3, ...a }); words.say("page.y", { n: 1 }); say("page.z");\n'
    )
    monkeypatch.setattr(f"{__name__}.PLAYGROUND", tmp_path)
    found = list(javascript_literals([tmp_path / "x.js"]))
    assert [one.text for one in found if one.is_read and reads_like_words(one.text)] == ["A title here", "{} tokens"]
    assert [(one.text, one.facts) for one in found if one.says] == [
        ("page.x", None),
        ("page.y", {"n"}),
        ("page.z", frozenset()),
    ]


# A key is written out where it is used, as the key of say or told or in a table of keys; or its beginning is, up to a
# dot, where the rest is filled in: say(f"engine.stage.{name}") uses all of engine.stage.
ROOMS = "|".join(sorted(path.stem for path in (words.FOLDER / "en").glob("*.toml")))
KEY = re.compile(rf"(?:{ROOMS})(?:\.[\w-]+){{2,}}")
BEGINNING = re.compile(rf"((?:{ROOMS})\.(?:[\w-]+\.)*)(?:\{{\}}.*)?")


def test_every_text_that_is_asked_for_exists():
    known = words.catalogue()
    keys = [one for one in literals() if one.says or KEY.fullmatch(one.text)]
    unknown = [one for one in keys if one.text not in known and not BEGINNING.fullmatch(one.text)]
    assert not unknown, "\n" + "\n".join(f"{one.path}:{one.line}: {one.text}" for one in unknown)
    beginnings = {match[1]: one for one in literals() if (match := BEGINNING.fullmatch(one.text))}
    empty = [one for start, one in beginnings.items() if not any(key.startswith(start) for key in known)]
    assert not empty, "\n" + "\n".join(f"{one.path}:{one.line}: {one.text}" for one in empty)


def test_every_text_is_asked_for():
    texts = {one.text for one in literals()}
    beginnings = tuple(match[1] for text in texts if (match := BEGINNING.fullmatch(text)))
    assert [key for key in words.catalogue() if key not in texts and not key.startswith(beginnings)] == []


def test_every_fact_of_a_text_is_given():
    known = words.catalogue()
    missing = [
        f"{one.path}:{one.line}: {one.text} asks for {sorted(wanted - one.facts)}"
        for one in literals()
        if one.says and one.facts is not None and one.text in known
        for wanted in [words.facts_of(words.parse(known[one.text]))]
        if not wanted <= one.facts
    ]
    assert not missing, "\n" + "\n".join(missing)


# ---- words.py itself


def test_a_text_is_said_with_its_facts(monkeypatch):
    texts = {"a.b": "{one} of {n, plural, =0 {no rows} one {# row} other {# rows}}", "a.c": "row {n}, {share, percent}"}
    monkeypatch.setattr(words, "catalogue", lambda: texts)
    words._message.cache_clear()
    assert words.say("a.b", one="x", n=0) == "x of no rows"
    assert words.say("a.b", one="x", n=1.0) == "x of 1 row"
    told = words.told("a.b", one=words.told("a.c", n=1, share=0.5), n=1200)
    assert told["key"] == "a.b" and json.loads(json.dumps(told)) == told
    assert words.say(told) == "row 1, 50.0 % of 1,200 rows"
    with pytest.raises(KeyError, match=r"no text is called 'a\.d'"):
        words.say("a.d")
    with pytest.raises(KeyError, match=r"no text is called 'a\.d'"):
        words.told("a.d")
    with pytest.raises(KeyError, match=r"a\.c asks for 'share'"):
        words.say("a.c", n=1)
    for wrong in (None, True, "half"):
        with pytest.raises(TypeError, match="'share' can't be said"):
            words.say("a.c", n=1, share=wrong)
    words._message.cache_clear()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "a name should follow"),
        ("a } b", "closed that was not opened"),
        ("{n; percent}", "a comma or a closing brace"),
        ("{n, half}", "not known"),
        ("{n, plural, one {a}}", "the case 'other'"),
        ("{n, plural, other {a", "not closed"),
    ],
)
def test_a_text_that_can_not_be_read_says_where(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        words.parse(text)


def test_an_entry_that_is_no_text_is_refused(tmp_path, monkeypatch):
    (tmp_path / "xx").mkdir()
    (tmp_path / "xx" / "room.toml").write_text("[part]\nnumber = 3\n")
    monkeypatch.setattr(words, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"room\.toml: room\.part\.number must be a text, got 3"):
        words.catalogue("xx")
