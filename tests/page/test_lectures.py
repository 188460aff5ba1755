"""The files of assets/lectures: what is there can be walked through, and a mistake is named with its line."""

import pytest
from node import in_node
from test_address_js import KNOWN

from playground.models.loading import embedded_names
from playground.page.lectures import FOLDER, LectureError, read_lecture

STEP = '[[step]]\ntitle = "a"\nsay = "b"\nat = "step=1"\n'
LECTURES = sorted(path.stem for path in FOLDER.glob("*.toml"))


@pytest.mark.parametrize("name", LECTURES)
def test_every_step_of_a_lecture_is_an_address_that_the_page_takes(name):
    steps = read_lecture(name)["steps"]
    script = "return given[0].map((at) => address.placeOf(at, given[1]))"
    known = KNOWN | {"models": embedded_names()}
    found = in_node(script, [[step["at"] for step in steps], known], address="page/js/address.js")
    assert 10 <= len(steps) <= 20
    for step, each in zip(steps, found, strict=True):
        assert each["refused"] == [], f"line {step['line']}"
        assert each["place"]["figure"] and step["title"] and step["say"].endswith((".", "?"))


def test_what_a_step_names_goes_before_what_all_share(tmp_path):
    (tmp_path / "mine.toml").write_text(f'title = "t"\nstart = "step=2&top_p=1"\n{STEP}')
    (step,) = read_lecture("mine", tmp_path)["steps"]
    assert step == {"title": "a", "say": "b", "at": "step=1&step=2&top_p=1", "line": 6}


def test_a_whole_link_may_be_pasted(tmp_path):
    (tmp_path / "mine.toml").write_text('title = "t"\n[[step]]\ntitle="a"\nsay="b"\nat="http://x:7860/#step=3"\n')
    assert read_lecture("mine", tmp_path)["steps"][0]["at"] == "step=3"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            'title = "t"\n' + STEP + '[[step]]\ntitle = "c"\nsay = "d"\n',
            "mine.toml, line 6: this step is missing its at.",
        ),
        ('title = "t"\n' + STEP.replace("say", "sya"), "mine.toml, line 2: this step is missing its say."),
        ('title = "t"\n' + STEP + 'note = "x"\n', "mine.toml, line 6: a step has no note, only title, say and at."),
        ('title = "t"\n' + STEP.replace('"b"', "3"), "mine.toml, line 4: say must be a text, in quotation marks."),
        (
            'title = "t"\n\nbegin = "x"\n' + STEP,
            "mine.toml, line 3: a lecture has no begin, only title, start and steps.",
        ),
        ('title = "t"\nstart = 1\n' + STEP, "mine.toml, line 2: start must be a text, in quotation marks."),
        (STEP, "mine.toml: a lecture needs a title, in quotation marks, above its first step."),
        ('title = "t"\n', "mine.toml: a lecture needs at least one step. A step begins with [[step]]."),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(tmp_path, text, complaint):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(LectureError) as error:
        read_lecture("mine", tmp_path)
    assert str(error.value) == complaint


def test_what_is_no_toml_is_told_with_its_line(tmp_path):
    (tmp_path / "mine.toml").write_text(f'title = "t"\n{STEP}[[step]]\ntitle = "no end\n')
    with pytest.raises(LectureError, match=r"^mine\.toml can't be read: .*line 7"):
        read_lecture("mine", tmp_path)


@pytest.mark.parametrize("name", ["nothing", "../words/en/page", "", "a/b", "decoding.toml"])
def test_only_a_file_of_the_folder_is_a_lecture(name):
    with pytest.raises(LectureError, match="There is no lecture"):
        read_lecture(name)
