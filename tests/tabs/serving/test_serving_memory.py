"""The calculator: published sizes, real tensors, parameters of real models; the browser's arithmetic as Python's."""

import json
import random

import pytest
import torch
import transformers
from node import in_node

from playground.models.text import LoadedModel
from playground.tabs.serving.memory import (
    TABLE,
    ConfigError,
    Setup,
    bytes_per_token,
    cache_bytes,
    changes,
    hugging_face_names,
    measured_bytes,
    parameters_of,
    plan,
    shape_of,
    window_for,
    wrong_formulas,
)

GIB = 1024**3
MODELS = {model["name"]: model for model in TABLE["model"]}
# Bytes a token at 16 bits; those of DeepSeek-V3, Qwen2.5-72B and Llama-3.1-405B: arXiv 2505.09343, table 1.
PUBLISHED = {
    "GPT-2, 124M": 36_864,
    "Llama-2-7B": 524_288,
    "Llama-2-13B": 819_200,
    "Llama-2-70B": 327_680,
    "Llama-3.1-8B": 131_072,
    "Llama-3.1-70B": 327_680,
    "Llama-3.1-405B": 516_096,
    "Mistral-7B v0.1": 131_072,
    "Qwen2.5-7B": 57_344,
    "Qwen2.5-72B": 327_680,
    "Qwen3-8B": 147_456,
    "Qwen3-32B": 262_144,
    "DeepSeek-V3": 70_272,
    "SmolLM2-135M": 23_040,
    "SmolLM2-1.7B": 196_608,
    "MiniMind-3, 64M": 12_288,
    "MiniMind-2 small, 26M": 4_096,
}
CLASSES = {"gpt2": "GPT2", "llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}


def test_every_model_of_the_list_has_its_published_size():
    assert {name: bytes_per_token(shape_of(model)) for name, model in MODELS.items()} == PUBLISHED


def test_a_window_caps_the_cache():
    mistral = shape_of(MODELS["Mistral-7B v0.1"])
    sizes = [cache_bytes(mistral, tokens) / 1024**2 for tokens in (2048, 4096, 8192, 100_000)]
    assert sizes == [256, 512, 512, 512]


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model["model_type"] in CLASSES])
def test_the_parameters_are_those_of_the_model_in_transformers(name: str):
    """Made without memory, on the meta device."""
    entries = {key: value for key, value in MODELS[name].items() if key not in ("name", "model_type")}
    family = CLASSES[MODELS[name]["model_type"]]
    config = getattr(transformers, f"{family}Config")(**entries)
    kind = getattr(transformers, "GPT2LMHeadModel" if family == "GPT2" else f"{family}ForCausalLM")
    with torch.device("meta"):
        model = kind(config)
    model.tie_weights()
    assert parameters_of(MODELS[name]) == sum(each.numel() for each in {id(p): p for p in model.parameters()}.values())


def test_the_formula_gives_the_bytes_of_real_tensors(chat: LoadedModel):
    config = chat.model.config
    shape = shape_of(hugging_face_names(config))
    for tokens in (1, 100, 300):
        assert measured_bytes(chat.model, [7] * tokens) == cache_bytes(shape, tokens, 32)
    assert cache_bytes(shape, 100, 32) == 204_800  # the course's number
    assert parameters_of(hugging_face_names(config)) == sum(each.numel() for each in chat.model.parameters())


def test_users_are_counted_one_by_one():
    """The slow way: caches go in until one no longer fits."""
    chance = random.Random(3)
    for _ in range(50):
        shape = shape_of(chance.choice(TABLE["model"]))
        setup = random_setup(chance)
        made, users = plan(shape, setup), 0
        while users < 3000 and made.weights + (users + 1) * made.per_user <= setup.memory * setup.usable:
            users += 1
        assert users == min(made.users, 3000)


def random_setup(chance: random.Random) -> Setup:
    parameters = chance.choice((0, 8_030_261_248, 671e9))
    return Setup(
        memory=chance.randint(1, 1280) * GIB,
        bandwidth=chance.randint(10, 30_000) * 1e9,
        tokens=chance.choice((1, 100, 4096, 5000, 131_072)),
        cache_bits=chance.choice((4, 8, 16, 32)),
        weight_bits=chance.choice((4, 8, 16, 32)),
        usable=chance.choice((0.5, 0.9, 1.0)),
        parameters=parameters,
        active_parameters=parameters / 2,
    )


def test_a_mistake_is_off_by_what_the_page_says():
    llama = wrong_formulas(shape_of(MODELS["Llama-3.1-8B"]))
    assert llama["all_heads"] == llama["hidden"] == 4 and llama["head_of_hidden"] == 1
    qwen = wrong_formulas(shape_of(MODELS["Qwen3-32B"]))  # 64 heads of 128 with 5,120 hidden
    assert qwen["head_of_hidden"] == 5120 / 64 / 128 and qwen["hidden"] == 2 * 5120 / (2 * 8 * 128)
    deepseek = wrong_formulas(shape_of(MODELS["DeepSeek-V3"]))
    assert deepseek["mla_heads"] == 128 * (128 + 64 + 128) / 576 and deepseek["mla_twice"] == 2


def test_each_change_of_the_picture_changes_one_thing():
    setup = Setup(memory=80 * GIB, bandwidth=3e12, tokens=8192)
    llama = shape_of(MODELS["Llama-3.1-8B"])
    per_user = {name: plan(*changed).per_user for name, *changed in changes(llama, setup)}
    relative = {name: each / per_user["now"] for name, each in per_user.items()}
    assert relative == {"now": 1, "own_heads": 4, "bits_8": 0.5, "bits_4": 0.25, "window": 0.5}
    names = {name: [change for change, *_ in changes(shape_of(model), setup)] for name, model in MODELS.items()}
    assert "grouped" in names["Llama-2-7B"] and "no_window" in names["Mistral-7B v0.1"]


# ---- the browser's arithmetic


IN_BROWSER = """
return given.map(({ config, setup }) => {
  const shape = memory.shapeOf(config);
  const changed = memory.changes(shape, setup);
  return [shape, memory.parametersOf(config), memory.wrongFormulas(shape),
          changed.map(([name, ...change]) => [name, memory.plan(...change)])];
});
"""


def camel(values: dict) -> dict:
    return {"".join([first, *map(str.title, rest)]): value for key, value in values.items()
            for first, *rest in [key.split("_")]}  # fmt: skip


def test_the_browser_computes_what_python_does(chat: LoadedModel):
    chance = random.Random(5)
    configs = [*TABLE["model"], hugging_face_names(chat.model.config), *(random_config(chance) for _ in range(60))]
    asked = [(config, random_setup(chance)) for config in configs]
    given = [{"config": config, "setup": camel(vars(setup))} for config, setup in asked]
    came = in_node(IN_BROWSER, given, memory="tabs/serving/memory.js")
    for (config, setup), (shape_there, parameters, wrong, changed) in zip(asked, came, strict=True):
        shape = shape_of(config)
        assert shape_there == camel(vars(shape))
        assert parameters == parameters_of(config)
        assert wrong == pytest.approx(wrong_formulas(shape), rel=1e-12)
        here = [(name, camel(vars(plan(*change)))) for name, *change in changes(shape, setup)]
        assert [name for name, _ in changed] == [name for name, _ in here]
        for (_, there), (_, ours) in zip(changed, here, strict=True):
            assert there == pytest.approx(ours, rel=1e-12)


def random_config(chance: random.Random) -> dict:
    heads = chance.choice((4, 12, 32))
    layers = chance.randint(1, 90)
    config = {
        "model_type": chance.choice(("llama", "qwen2", "qwen3", "mistral", "gemma3")),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "hidden_size": chance.choice((768, 5120)),
        "intermediate_size": chance.choice((None, 2048)),
        "vocab_size": chance.choice((None, 32_000)),
        "num_key_value_heads": chance.choice((None, 1, 4)),
        "head_dim": chance.choice((None, 80)),
        "sliding_window": chance.choice((None, 512, 4096)),
        "use_sliding_window": chance.choice((None, True, False)),
        "max_window_layers": chance.choice((None, 3, 200)),
        "sliding_window_pattern": chance.choice((None, None, 6)),
        "layer_types": chance.choice((None, ["sliding_attention", "full_attention"] * (layers // 2))),
        "num_experts": chance.choice((None, None, 8)),
    }
    return {key: value for key, value in config.items() if value is not None or chance.random() < 0.5}


def test_a_pasted_config_is_bounded_and_never_trusted():
    good = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 64}
    texts = [
        json.dumps(good),
        json.dumps({"text_config": good, "vision_config": {}}),
        "",
        "{" + " " * 30_000 + "}",
        "[1, 2]",
        "null",
        "{not json",
        *(json.dumps({**good, "hidden_size": value}) for value in (0, -3, 1e400, "64", None, 2.5, 10**9, [64], True)),
        json.dumps({**good, "__proto__": {"num_key_value_heads": 1}}),
    ]
    script = "return given.map(memory.readConfig).map(({ problem, name }) => [problem ?? '', name]);"
    came = in_node(script, texts, memory="tabs/serving/memory.js")
    bad = ["entry", "hidden_size"]
    expected = [["", ""], ["", ""], ["empty", ""], ["too_long", ""], *[["not_json", ""]] * 3, *[bad] * 9, ["", ""]]
    expected[9] = ["not_json", ""]  # Infinity is no JSON
    assert came == expected
    for value in (0, "64", True, 10**9):
        with pytest.raises(ConfigError, match="hidden_size"):
            shape_of({**good, "hidden_size": value})


# ---- what the lessons claim


def lesson_setup(name: str) -> tuple[dict, Setup]:
    preset = TABLE["lesson"][name]
    model = MODELS[preset["model"]]
    machine = next(each for each in TABLE["machine"] if each["name"] == preset["machine"])
    parameters = parameters_of(model)
    return model, Setup(
        machine["memory"] * GIB,
        machine["bandwidth"] * 1e9,
        preset["tokens"],
        preset["cache_bits"],
        preset["weight_bits"],
        0.9,
        parameters,
        parameters,
    )


def test_lesson_k9_one_user_takes_2_gib_and_five_fit_beside_the_weights():
    model, setup = lesson_setup("K9")
    made = plan(shape_of(model), setup)
    assert made.per_user == 2 * GIB
    wrong = wrong_formulas(shape_of(model))
    assert wrong["head_of_hidden"] == 0.625 and wrong["all_heads"] == 8
    assert made.users == 5


def test_lesson_k10_grouped_heads_serve_four_times_as_many():
    model, setup = lesson_setup("K10")
    users = {name: plan(*changed).users for name, *changed in changes(shape_of(model), setup)}
    assert users["now"] == 57 and users["own_heads"] == 14


def test_lesson_k16_eight_bits_double_and_a_window_quadruples():
    model, setup = lesson_setup("K16_servers")
    users = {name: plan(*changed).users for name, *changed in changes(shape_of(model), setup)}
    assert (users["now"], users["bits_8"], users["window"]) == (7, 14, 29)
    assert window_for(setup.tokens) == 4096
