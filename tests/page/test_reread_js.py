"""The browser's arithmetic (page/js/reread.js) is held against Python's: same tokens kept, chosen and ranked."""

import random
from dataclasses import asdict

import numpy as np
import pytest
import torch
from conftest import recorded
from node import in_node

from playground.engine.params import SamplingParams
from playground.engine.stages import RULES
from playground.engine.trace import Reread, Trace

# JSON has no -inf: null stands for it.
DRIVER = """
return given.map(({ run, cases }) => {
  run.logits = Float32Array.from(run.logits, (logit) => logit ?? -Infinity);
  browser.rankRun(run);
  const { reread, rereadStep } = browser;
  return cases.map(({ params, step }) => ({ ...reread(run, params), step: rereadStep(run, params, step) }));
});
"""


def run_browser_side(jobs: list[dict]) -> list[list[dict]]:
    return in_node(DRIVER, jobs, browser="page/js/reread.js")


def job(trace: Trace, cases: list[tuple[SamplingParams, int]]) -> dict:
    logits = [None if logit == -np.inf else logit for logit in trace.logits.flatten().tolist()]
    run = {
        "numSteps": len(trace),
        "vocabSize": trace.logits.shape[1],
        "logits": logits,
        "tokenIds": trace.token_ids,
        "uniforms": trace.uniforms,
        "promptIds": trace.prompt_ids,
    }
    return {"run": run, "cases": [{"params": asdict(params), "step": step} for params, step in cases]}


def random_trace(rng: random.Random) -> Trace:
    """A few steps over a small vocabulary: smooth, full of ties, or with tokens that are impossible."""
    num_steps, vocab_size = rng.randint(1, 7), rng.choice([1, 2, 5, 17, 40])
    spread = rng.choice([0.01, 1.0, 4.0, 30.0, 300.0])
    logits = torch.from_numpy(np.random.default_rng(rng.getrandbits(32)).normal(0, spread, (num_steps, vocab_size)))
    kind = rng.choice(["smooth", "ties", "impossible", "equal"])
    if kind == "ties":
        logits = logits.round()
    elif kind == "equal":
        logits = torch.zeros_like(logits)
    elif kind == "impossible":
        impossible = torch.rand(logits.shape, generator=torch.Generator().manual_seed(rng.getrandbits(32))) < 0.5
        logits = logits.masked_fill(impossible, -torch.inf)
        logits[:, rng.randrange(vocab_size)] = 0.5
    tokens = [rng.randrange(vocab_size) for _ in range(num_steps)]
    prompt = [rng.randrange(vocab_size) for _ in range(rng.randint(0, 4))]
    uniforms = [rng.choice([rng.random(), rng.random(), 0.0, 1 - 1e-9]) for _ in range(num_steps)]
    return recorded(logits.float(), tokens, uniforms, prompt)


def random_params(rng: random.Random, vocab_size: int) -> SamplingParams:
    def maybe(off: float, *choices: float) -> float:
        return off if rng.random() < 0.5 else rng.choice(choices)

    penalties = {}
    if rng.random() < 0.3:
        penalties = {
            "repetition_penalty": maybe(1.0, 1.3, 2.0, 0.7),
            "presence_penalty": maybe(0.0, 0.5, -1.0, rng.random()),
            "frequency_penalty": maybe(0.0, 0.5, rng.random()),
            "penalty_counts_prompt": rng.random() < 0.5,
        }
    temperature = rng.choice([0.0, 1e-3, 0.3, 0.7, 1.0, 1.0, 1.5, 2.0, rng.uniform(0.05, 2)])
    rule, typical_p = rng.choice(list(RULES)), maybe(1.0, 0.0, 0.2, 0.5, 0.95, rng.random())
    return SamplingParams(
        temperature=temperature,
        top_k=int(maybe(0, 1, 2, rng.randint(1, vocab_size + 5))),
        top_p=maybe(1.0, 0.0, 0.5, 0.9, 1.0, rng.random()),
        min_p=maybe(0.0, 1.0, 0.05, 0.5, rng.random()),
        typical_p=typical_p,
        top_n_sigma=maybe(0.0, 0.05, 0.5, 1.0, 3.0, rng.uniform(0, 3)),
        rule=rule,
        **penalties,
    )


def test_the_browser_and_python_read_a_recorded_run_alike():
    rng = random.Random(5)
    traces = [random_trace(rng) for _ in range(160)]
    jobs = []
    for trace in traces:
        cases = [random_params(rng, trace.logits.shape[1]) for _ in range(8)]
        jobs.append([(params, rng.randrange(len(trace))) for params in cases])
    results = run_browser_side([job(trace, cases) for trace, cases in zip(traces, jobs, strict=True)])
    for trace, cases, answers in zip(traces, jobs, results, strict=True):
        for (params, step), browser in zip(cases, answers, strict=True):
            assert_same(trace, params, step, browser)


def test_the_browser_samples_no_token_without_probability():
    """Where rounded sums end below a mark next to 1, the last token that has a probability is sampled."""
    logits = torch.randn(200, 100, generator=torch.Generator().manual_seed(1))
    trace = recorded(logits, [0] * 200, [1 - 2**-53] * 200)
    cases = [(SamplingParams(temperature=temperature), 0) for temperature in (1e-3, 0.02, 1.0)]
    for (params, _), browser in zip(cases, run_browser_side([job(trace, cases)])[0], strict=True):
        probs = trace.reread(params).probs
        assert all(probs[step, token_id] > 0 for step, token_id in enumerate(browser["chosenIds"]))
    even = recorded(torch.zeros(4, 4), [0, 1, 2, 3], [0.0, 0.25, 0.5, 0.75])
    assert run_browser_side([job(even, [(SamplingParams(), 0)])])[0][0]["chosenIds"] == [0, 1, 2, 3]


def test_a_whole_vocabulary_reads_alike_after_one_slider_and_then_another():
    """The browser keeps running sums between moves: what it kept for one slider must not answer for another."""
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(24, 3072, generator=generator) * 3
    trace = recorded(logits, list(range(24)), torch.rand(24, generator=generator).tolist(), [1, 2, 3])
    moves = [
        SamplingParams(),
        SamplingParams(top_p=0.9),
        SamplingParams(temperature=0.5, top_p=0.9),
        SamplingParams(temperature=0.5, top_p=0.9, rule="llama.cpp"),
        SamplingParams(temperature=1.7, top_p=0.9),
        SamplingParams(temperature=1.7, top_p=0.9, presence_penalty=2, rule="minimind"),
        SamplingParams(temperature=0.7, top_p=0.9, presence_penalty=2, rule="minimind"),
        SamplingParams(temperature=0.7, top_p=0.9, presence_penalty=2),
        SamplingParams(temperature=0.7, top_p=0.9),
        SamplingParams(temperature=0.7, top_p=0.9, typical_p=0.4, rule="llama.cpp"),
        SamplingParams(temperature=0.7, top_p=0.9, top_n_sigma=1.5),
        SamplingParams(temperature=0.7, top_n_sigma=1.5, typical_p=0.4, presence_penalty=2),
        SamplingParams(top_p=0.9),
        SamplingParams(temperature=0),
    ]
    cases = [(params, step) for step, params in enumerate(moves)]
    for (params, step), browser in zip(cases, run_browser_side([job(trace, cases)])[0], strict=True):
        assert_same(trace, params, step, browser)


def one_step(logits: list[float], **settings) -> dict:
    """What the browser makes of a single step."""
    trace = recorded(torch.tensor([logits]), [0], [0.5])
    return run_browser_side([job(trace, [(SamplingParams(**settings), 0)])])[0][0]["step"]


def test_typical_p_keeps_the_second_token_alone():
    """Of [.5, .3, .2] the entropy is 1.03 and the surprises are .69, 1.20, 1.61: the second is nearest."""
    step = one_step(np.log([0.5, 0.3, 0.2]).tolist(), typical_p=0.2)
    assert (step["start"], step["stop"], step["sampledPlace"]) == (1, 2, 1)
    assert_close(step["probs"], np.array([0, 1, 0]))
    stage = step["stages"][-1]
    assert stage["name"] == "typical-p" and stage["keptMass"] == pytest.approx(0.3, abs=1e-6)


def test_typical_p_takes_the_nearest_on_both_sides_until_they_reach_p():
    """The first is .34 from the entropy and the third .58: .3 and .5 reach .75, and only all three reach .85."""
    for typical_p, kept in ((0.75, 2), (0.85, 3)):
        step = one_step(np.log([0.5, 0.3, 0.2]).tolist(), typical_p=typical_p)
        assert (step["start"], step["stop"]) == (0, kept)


def test_top_n_sigma_counts_standard_deviations_of_the_possible_logits():
    """Logits 4, 2, 0, 0, -1 and an impossible one: mean 1, variance 3.2, deviation 1.79."""
    for n, kept in ((1, 1), (1.2, 2), (2.2, 2), (2.3, 4), (3, 5)):
        for temperature in (0.2, 1, 2):
            step = one_step([4, 2, 0, 0, -1, -np.inf], top_n_sigma=n, temperature=temperature)
            assert (step["start"], step["stop"], step["uncut"]["stop"]) == (0, kept, 5), n


def test_a_low_temperature_after_typical_p_shares_out_what_it_left():
    """Measured against the most likely token, which was cut, every token that is left would have no weight."""
    logits = [0, -1.2, -1.2, -3, -5, *[-6] * 30]
    step = one_step(logits, typical_p=0.3, temperature=1e-3, rule="llama.cpp")
    assert (step["start"], step["numCandidates"]) == (1, 2)
    assert step["probs"][:4] == [0, 0.5, 0.5, 0]


SPLICE = """
const { rankRun, spliceRank, reread, rereadStep } = browser;
const random = (seed) => () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const draw = random(7), vocabSize = 50, made = [];
const runOf = (logits, tokenIds) => ({
  numSteps: tokenIds.length, vocabSize, logits, tokenIds, promptIds: [1], uniforms: tokenIds.map(draw),
  forced: new Set(),
});
const some = (count) => Float32Array.from({ length: count }, () => Math.round(draw() * 20) / 4);
for (let round = 0; round < 40; round += 1) {
  const steps = 1 + Math.floor(draw() * 8), shared = Math.floor(draw() * (steps + 1)), more = Math.floor(draw() * 6);
  if (shared + more === 0) continue;
  const ids = (count) => Array.from({ length: count }, () => Math.floor(draw() * vocabSize));
  const base = rankRun(runOf(some(steps * vocabSize), ids(steps)));
  const kept = Math.max(shared - 1, 0); // the last shared step may have another token: it was forced
  const tokenIds = [...base.tokenIds.slice(0, kept), ...ids(shared + more - kept)];
  const logits = new Float32Array(tokenIds.length * vocabSize);
  logits.set(base.logits.subarray(0, shared * vocabSize));
  logits.set(some(more * vocabSize), shared * vocabSize);
  const spliced = spliceRank(runOf(logits, tokenIds), base, shared);
  const whole = rankRun({ ...spliced, order: undefined });
  const told = ({ order: { steps, places } }) => JSON.stringify([steps.map((each) => [each.ids, each.scores]), places]);
  made.push(told(spliced) === told(whole) && spliced.order.places.length === tokenIds.length);
}
const run = rankRun(runOf(some(4 * vocabSize), [1, 2, 3, 4]));
const params = { temperature: 1 };
const parts = reread(run, params).firstDifference;
run.forced.add(parts);
return { made, forcedIsNoDifference: reread(run, params).firstDifference !== parts,
  again: rereadStep(run, params, 1) === rereadStep(run, params, 1),
  other: rereadStep(run, params, 1) !== rereadStep(run, { temperature: 0.5 }, 1) };
"""


def test_the_browser_ranks_only_the_new_steps_and_gets_the_same_ranking():
    found = in_node(SPLICE, browser="page/js/reread.js")
    assert len(found["made"]) > 30 and all(found["made"])
    assert found["forcedIsNoDifference"] and found["again"] and found["other"]


def assert_same(trace: Trace, params: SamplingParams, step: int, browser: dict) -> None:
    python = trace.reread(params)
    assert_all_steps_agree(trace, python, browser)
    assert_one_step_agrees(trace, python, step, browser["step"])


def assert_all_steps_agree(trace: Trace, python: Reread, browser: dict) -> None:
    distributions, params = python.distributions, python.distributions.params
    assert browser["numCandidates"] == python.num_candidates, params
    assert browser["chosenIds"] == python.chosen_ids, params
    assert browser["firstDifference"] == python.first_difference, params
    assert_close(browser["entropy"], distributions.entropy.numpy())
    logits, steps, written = trace.logits.double(), range(len(trace)), trace.token_ids
    assert_close(browser["chosenProb"], python.probs[steps, written].numpy())
    assert_close(browser["chosenModelProb"], torch.softmax(logits, -1)[steps, written].numpy())
    ranking = logits.argsort(dim=-1, descending=True, stable=True)  # of equal logits the lower id comes first
    ranks = [row.tolist().index(token_id) + 1 for row, token_id in zip(ranking, written, strict=True)]
    assert browser["chosenRank"] == ranks


def assert_one_step_agrees(trace: Trace, python: Reread, step: int, browser: dict) -> None:
    row = python.distributions[step]
    ranking = row.ranking
    assert browser["ranking"] == ranking.tolist()
    assert browser["numCandidates"] == row.num_candidates
    assert ranking[browser["chosenPlace"]] == trace.token_ids[step]
    assert ranking[browser["sampledPlace"]] == python.chosen_ids[step]
    assert browser["uniform"] == trace.uniforms[step]
    assert browser["entropy"] == pytest.approx(row.entropy, abs=1e-6)
    assert_close(browser["probs"], row.probs[ranking].numpy())
    assert_close(browser["modelProbs"], row.model_probs[ranking].numpy())
    for theirs, ours in zip(browser["stages"], row.stages, strict=True):
        assert (theirs["name"], theirs["numKept"], theirs["cuts"]) == (ours.name, ours.num_kept, ours.cuts)
        assert theirs["keptMass"] == pytest.approx(ours.kept_mass, abs=1e-6), ours.name
        assert_close(theirs["probs"], ours.probs[ranking].numpy())


def assert_close(theirs: list[float], ours: np.ndarray) -> None:
    assert np.abs(np.array(theirs) - ours).max() < 1e-6
