"""Large vocabularies: the browser has the largest logits and bins of the tail, Python has all and judges."""

import os
import random
from dataclasses import asdict

import numpy as np
import orjson
import pytest
import torch
from conftest import recorded
from node import in_node
from test_reread_js import random_params

from playground.engine.generation import generate, timed
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distribution
from playground.engine.trace import Trace
from playground.models.loading import load_model
from playground.page.binned import TOP, binned
from playground.page.runs import Run, payload
from playground.words import catalogue

NUM_STEPS = 4
DRIVER = """
return given.map(({ run, cases }) => {
  const logits = binned.binnedOf(run.logits);
  browser.rankRun(Object.assign(run, { logits }));
  return cases.map(({ params, step }) => {
    const all = browser.reread(run, params), now = browser.rereadStep(run, params, step);
    const top = (values) => values.slice(0, 1024);
    const stages = now.stages.map(({ probs, ...stage }) => ({ ...stage, isExact: cuts.isExact(stage) }));
    const sum = now.probs.reduce((sum, prob) => sum + prob, 0);
    const shown = { ranking: top(now.ranking), probs: top(now.probs), modelProbs: top(now.modelProbs), sum };
    return { ...all, step: { ...now, stages, uncut: null, scores: null, ...shown } };
  });
});
"""
MODULES = {"browser": "page/js/reread.js", "binned": "page/js/binned.js", "cuts": "page/js/cuts.js"}


def run_of(trace: Trace) -> dict:
    return {
        "numSteps": len(trace),
        "vocabSize": trace.logits.shape[1],
        "logits": binned(trace.logits.numpy(), trace.prompt_ids, trace.token_ids),
        "tokenIds": trace.token_ids,
        "uniforms": trace.uniforms,
        "promptIds": trace.prompt_ids,
    }


def browser_side(trace: Trace, cases: list[tuple[SamplingParams, int]]) -> list[dict]:
    given = {"run": run_of(trace), "cases": [{"params": asdict(params), "step": step} for params, step in cases]}
    return in_node(DRIVER, [given], **MODULES)[0]


def large_trace(kind: str, vocab_size: int, seed: int) -> Trace:
    generator = np.random.default_rng(seed)
    shape = NUM_STEPS, vocab_size
    logits = generator.normal(0, 1, shape)
    if kind == "smooth":
        logits *= 2.5
    elif kind == "flat":
        logits *= 0.2
    elif kind == "skewed":  # as a language model: few large ones, and some that lie far below all others
        logits = 2 * logits + generator.exponential(2.5, shape)
        logits[:, generator.integers(vocab_size, size=300)] -= 70
    elif kind == "ties":
        logits = np.round(4 * logits) / 2
    elif kind == "impossible":
        logits[:, generator.random(vocab_size) < 0.97] = -np.inf
        logits[0, 700:] = -np.inf
    logits = torch.from_numpy(logits.astype(np.float32))
    uniforms = generator.random(NUM_STEPS).tolist()
    prompt = generator.integers(vocab_size, size=20).tolist()
    written = recorded(logits, [0] * NUM_STEPS, uniforms, prompt).reread(SamplingParams(temperature=1.3)).chosen_ids
    return recorded(logits, written, uniforms, prompt)


def random_cases(rng: random.Random, vocab_size: int) -> list[tuple[SamplingParams, int]]:
    """Half of them cut by top-k on either side of the largest logits, so that much is exact and much is not."""
    cases = []
    for number in range(8):
        settings = asdict(random_params(rng, vocab_size)) | (
            {"top_k": rng.choice([50, TOP, 5000])} if number % 2 else {}
        )
        cases.append((SamplingParams(**settings), rng.randrange(NUM_STEPS)))
    return cases


@pytest.mark.parametrize(
    ("kind", "vocab_size"),
    [("smooth", 49_152), ("flat", 49_152), ("ties", 49_152), ("impossible", 49_152), ("skewed", 151_936)],
)
def test_what_is_not_marked_as_an_estimate_is_what_python_says(kind: str, vocab_size: int):
    rng = random.Random(kind)
    trace = large_trace(kind, vocab_size, seed=4)
    wide = [(SamplingParams(temperature=2, typical_p=0.9), 0), (SamplingParams(temperature=1.5, top_p=0.98), 1)]
    cases = [*random_cases(rng, vocab_size), *wide]
    assert 0 < hold_against_python(trace, cases) < NUM_STEPS * len(cases) / 2


def hold_against_python(trace: Trace, cases: list[tuple[SamplingParams, int]]) -> int:
    """How many numbers of candidates were marked as estimates; what is not marked must be right."""
    num_estimates = 0
    for (params, step), browser in zip(cases, browser_side(trace, cases), strict=True):
        python = trace.reread(params)
        estimated = browser["estimated"]
        assert browser["firstDifference"] == python.first_difference or any(estimated["chosenIds"]), params
        for at in range(len(trace)):
            row = python.distributions[at]
            assert_counted(browser, row.num_candidates, python.chosen_ids[at], at, params)
            prob, theirs = float(row.probs[trace.token_ids[at]]), browser["chosenProb"][at]
            assert theirs == pytest.approx(prob, rel=1.1e-5, abs=1e-3 if estimated["chosenProb"][at] else 1e-12), params
            nats = 2e-2 if estimated["entropy"][at] else 1e-3
            assert browser["entropy"][at] == pytest.approx(row.entropy, abs=nats), params
            num_estimates += estimated["numCandidates"][at]
        assert_one_step(browser["step"], python.distributions[step], params)
    return num_estimates


def assert_counted(browser: dict, num_candidates: int, chosen_id: int, at: int, params: SamplingParams) -> None:
    if browser["estimated"]["numCandidates"][at]:
        assert browser["numCandidates"][at] == pytest.approx(num_candidates, rel=0.02), params
    else:
        assert browser["numCandidates"][at] == num_candidates, params
    if not browser["estimated"]["chosenIds"][at]:
        assert browser["chosenIds"][at] == chosen_id, params


def assert_one_step(now: dict, python: Distribution, params: SamplingParams) -> None:
    probs, model_probs = python.probs.numpy(), python.model_probs.numpy()
    vocab_size = len(probs)
    places = [place for place, token_id in enumerate(now["ranking"]) if token_id < vocab_size]
    if not params.penalizes:  # a penalty moves tokens across the border between the largest and the bins
        assert now["ranking"] == python.ranking[:TOP].tolist()
    for theirs, ours in ((now["probs"], probs), (now["modelProbs"], model_probs)):
        named = ours[[now["ranking"][place] for place in places]]
        is_close = not (now["estimated"]["probs"] or now["estimated"]["numCandidates"])
        assert np.abs(np.array(theirs)[places] - named).max() < (1e-5 if is_close else 1e-3), params
    assert now["sum"] == pytest.approx(1, abs=1e-9)
    for stage, ours in zip(now["stages"], python.stages, strict=True):
        assert stage["least"] <= stage["stop"] <= stage["most"]
        assert not stage["isExact"] or stage["numKept"] == ours.num_kept, (stage["name"], params)
        if stage["name"] != "typical-p":  # of all tokens as near to the entropy, Python keeps those within its boundary
            close = {"rel": stage["keptError"] + 1e-9} if stage["keptError"] <= 1e-5 else {"abs": 2e-3}
            assert stage["keptMass"] == pytest.approx(ours.kept_mass, **close), (stage["name"], params)


SPELLED = """
const { run, catalogue } = given;
words.use(catalogue);
browser.rankRun(Object.assign(run, { logits: binned.binnedOf(run.logits), forced: new Set() }));
run.vocabulary = { at: (id) => String(id) };
const said = (params, step = 0) => {
  const now = browser.rereadStep(run, params, step);
  const cards = now.stages.map((stage, at) => ({ stage, before: now.stages[at - 1] ?? now.uncut, run, params, step }));
  const texts = cards.filter(({ stage }) => stage.cuts).map((card) => stageWords.stageWords(card).small);
  const { top } = pinned.candidatesOf(run, params, step);
  const score = sampler.scoreOf(browser.reread(run, params), 2);
  return { texts, shares: top.map(({ share }) => numbers.percent(share)), score };
};
return [said(given.wide), said(given.narrow)];
"""


def test_what_bins_decide_is_spelled_as_an_estimate_on_the_cards_the_pinned_answer_and_the_score():
    """They said 87.2 % as if it were known."""
    trace = large_trace("flat", 49_152, seed=4)
    settings = [SamplingParams(temperature=1.5, top_p=0.9), SamplingParams(top_k=5)]
    wide, narrow = (asdict(params) for params in settings)
    modules = {name: f"page/js/{name}.js" for name in ("words", "numbers", "pinned")} | MODULES
    modules |= {"stageWords": "tabs/one_answer/stage_words.js", "sampler": "tabs/one_answer/sampler.js"}
    given = {"run": run_of(trace), "catalogue": catalogue(), "wide": wide, "narrow": narrow}
    wide, narrow = in_node(SPELLED, given, **modules)
    assert wide["texts"] == ["kept, ≈ 90.0 % of what came in"]
    assert all(share.startswith(("≈", "<")) for share in wide["shares"]) and len(wide["shares"]) > 3
    assert set(wide["score"]["settings"]) == {"about"}
    assert not any("≈" in text for text in narrow["shares"]), "five tokens that were all sent"


@pytest.mark.parametrize("settings", [{}, {"temperature": 1.7}, {"presence_penalty": 1.1, "typical_p": 0.97}])
def test_a_run_under_its_own_settings_never_differs_from_itself(settings: dict):
    """Half of its tokens come from bins, each of which has hundreds."""
    params = SamplingParams(**settings)
    trace = large_trace("flat", 20_000, seed=9)
    ids: list[int] = []
    for step in range(NUM_STEPS):  # a penalty counts the tokens that were written before
        rest = [*ids, *[0] * (NUM_STEPS - step)]
        ids.append(recorded(trace.logits, rest, trace.uniforms, [5, 6]).reread(params).chosen_ids[step])
    written = recorded(trace.logits, ids, trace.uniforms, [5, 6])
    script = DRIVER.replace("Object.assign(run, { logits })", "Object.assign(run, { logits, params: cases[0].params })")
    given = [{"run": run_of(written), "cases": [{"params": asdict(params), "step": 0}]}]
    browser = in_node(script, given, **MODULES)[0][0]
    assert browser["firstDifference"] is None and browser["chosenIds"] == ids
    own = written.reread(SamplingParams())
    ranks = [int((own.distributions[step].ranking == token).nonzero()) + 1 for step, token in enumerate(ids)]
    assert browser["chosenRank"] == ranks and max(ranks) > TOP


def test_a_run_of_a_large_vocabulary_is_less_than_a_megabyte_and_goes_on_from_another():
    logits = torch.randn(64, 151_936, generator=torch.Generator().manual_seed(2)) * 3
    ids, vocabulary = list(range(64)), [str(number) for number in range(151_936)]

    def sent(num_steps: int, first: int, last: int, **more: int) -> dict:
        trace = recorded(logits[:num_steps], [*ids[: num_steps - 1], last], [0.5] * num_steps, [1, 2])
        run = Run("tiny", "a prompt", trace, SamplingParams(), 64, ["x"] * num_steps, vocabulary, [], id="r1")
        return payload(run, first, **more)

    assert len(orjson.dumps(sent(64, 0, 63))) < 1_000_000
    script = """
        words.use({ "page.tail_token": "another" });
        const [base, rest, whole] = given, labels = Array.from({ length: 151936 }, (_, id) => String(id));
        const [first, all] = [base, whole].map((sent) => runs.decode(sent, { labels, token_bytes: [] }));
        const ranked = ({ ids, scores }) => [ids, scores];
        const told = ({ order: { steps, places } }) => JSON.stringify([steps.map(ranked), places]);
        const known = all.logits.steps[2].ids;
        const far = labels.findIndex((_, id) => !known.includes(id));
        return [told(runs.continueRun(first, rest)) === told(all), all.vocabulary.length, all.vocabulary.at(-1),
            reread.logitOf(all, 2, known[5]), String(reread.logitOf(all, 2, far))];
    """
    given = [sent(3, 0, 2), sent(4, 2, 90_000, shared=2), sent(4, 0, 90_000)]
    modules = {"runs": "page/js/run_data.js", "words": "page/js/words.js", "reread": "page/js/reread.js"}
    same, count, last, logit, unknown = in_node(script, given, **modules)
    assert same and (count, last, unknown) == (151_937, "another", "NaN")
    assert logit == float(logits[2].sort(descending=True).values[5])


@pytest.mark.skipif(not os.environ.get("SMOLLM2"), reason="SMOLLM2=1 runs it: it fetches 93 MB")
def test_a_real_run_of_a_large_vocabulary_reads_as_in_python():
    loaded, params = load_model("smollm2"), SamplingParams(seed=3)
    prompt = loaded.prompt_ids("Tell me a story about a dragon.")
    trace = Trace.record(timed(generate(loaded.model, prompt, params, None, 64)))
    rng = random.Random(1)
    settings = [
        {},
        {"top_p": 0.9},
        {"temperature": 0.7, "top_k": 50, "top_p": 0.9},
        {"temperature": 1.5, "top_p": 0.95},
        {"temperature": 2.0},
        {"min_p": 0.05, "repetition_penalty": 1.2},
        {"typical_p": 0.9},
        {"top_n_sigma": 1.0},
    ]
    cases = [(SamplingParams(**each), rng.randrange(64)) for each in settings]
    num_estimates = hold_against_python(trace, cases)
    print(f"{num_estimates} of {64 * len(cases)} numbers of candidates are estimates")
    assert 0 < num_estimates < 64 * len(cases) / 2
