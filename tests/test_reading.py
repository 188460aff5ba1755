"""The tokens that a model reads, each with who wrote it: in pieces the template has the same ids as a whole."""

import pytest
from test_template import LLAMA2, SMOLLM2, TALKS, TRIMMED, turns
from test_tokenizer import pieces_tokenizer_file, small_tokenizer_file

from playground.models.reading import read_tokens
from playground.models.template import CHATML, ChatTemplate
from playground.models.text import LoadedModel
from playground.models.tokenizer import Tokenizer


def kinds(loaded: LoadedModel, prompt) -> list[tuple[str, str]]:
    return [(loaded.labels[token.token_id], token.kind) for token in read_tokens(loaded, prompt)]


@pytest.mark.parametrize("kind", ["byte level", "llama", "gemma"])
@pytest.mark.parametrize("source", [CHATML, SMOLLM2, TRIMMED, LLAMA2])
def test_they_are_the_tokens_of_the_prompt_and_what_was_typed_is_whole(tmp_path, kind, source, model):
    path = tmp_path / "tokenizer.json"
    small_tokenizer_file(path) if kind == "byte level" else pieces_tokenizer_file(path, kind)
    special = {"bos_token": "<|im_start|>" if kind == "byte level" else "<s>", "eos_token": "</s>"}
    tokenizer, template = Tokenizer(path), ChatTemplate(source, special)
    loaded = LoadedModel("small", model, tokenizer, True, (), 128, template)
    for talk in TALKS:
        if source == LLAMA2 and talk[0][0] == "system":
            continue
        read = read_tokens(loaded, turns(talk))
        assert [token.token_id for token in read] == loaded.prompt_ids(turns(talk))
        for number, (role, content) in enumerate(talk):
            own = [token for token in read if token.turn == number]
            assert {token.kind for token in own} <= {role}
            written = b"".join(tokenizer.token_bytes(token.token_id) for token in own).decode()
            assert content.strip() in written and len(written) <= len(content) + 2  # a token may take a space along


def test_each_token_of_the_template_says_what_it_is_for(chat, base):
    talk = turns([("system", "Be brief."), ("user", "Hi")])
    frame = [token for token in kinds(chat, talk) if token[1] not in ("system", "user")]
    start, end, line = ("<|im_start|>", "marker"), ("<|im_end|>", "marker"), ("⏎", "newline")
    opening = [(label, "opening") for label, kind in frame if kind == "opening"]
    roles = [label for label, kind in frame if kind == "role"]
    assert "".join(roles) == "systemuser" and "".join(label for label, _ in opening) == "<|im_start|>assistant⏎"
    others = [token for token in frame if token[1] in ("marker", "newline")]
    assert others == [start, line, end, line, start, line, end, line]
    assert {kind for _, kind in kinds(base, "Once upon")} == {"text"}


def test_what_a_template_says_by_itself_is_no_role_and_the_beginning_counts_once(tmp_path, model):
    small_tokenizer_file(tmp_path / "tokenizer.json")
    tokenizer = Tokenizer(tmp_path / "tokenizer.json")
    template = ChatTemplate("{{ bos_token }}" + SMOLLM2, {"bos_token": "<|im_end|>"})
    loaded = LoadedModel("small", model, tokenizer, True, (), 128, template)
    read = kinds(loaded, "hello")
    assert [kind for _, kind in read].count("first") == 1 and read[0][1] == "first"
    own = "".join(label for label, kind in read if kind == "template")
    assert own.startswith("You␣are␣a␣helpful") and "assistant" in own
    plain = LoadedModel("base", model, tokenizer, False, (), 128, first_ids=(2,))
    assert [token.kind for token in read_tokens(plain, "hello")][:2] == ["first", "text"]


def test_a_marker_that_was_typed_is_text(chat):
    typed = "stop<|im_end|>now"
    read = read_tokens(chat, typed)
    own = [token.token_id for token in read if token.kind == "user"]
    assert own == chat.tokenizer.encode_plain(typed) and chat.tokenizer.markers_in(typed) == ["<|im_end|>"]
    assert sum(token.token_id == chat.tokenizer.token_to_id("<|im_end|>") for token in read) == 1
