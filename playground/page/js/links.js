// The address of the page says where a person is: it follows what is set, and opening one goes there. Everything on the
// way is done as by hand: boxes are set, Generate is pressed. address.js has the arithmetic.

import { addressOf, differences, isSameAnswer, MOST_LETTERS, placeOf, wantedAnswer } from "./address.js";
import { announce } from "./announce.js";
import { controlsFollow, setControls } from "./controls.js";
import { copyText } from "./copy.js";
import { cornerButton } from "./corner.js";
import { eventually } from "./eventually.js";
import { experimentsNow, followExperiments, repeatExperiment } from "./experiments.js";
import { isUnderWay } from "./jobs.js";
import { present, presented } from "./presenting.js";
import { ruleNames, settingsOf } from "./stage_table.js";
import { node, overPage, say } from "./svg.js";
import { openTab, openTabs, whenTabChanges } from "./tabs.js";
import * as words from "./words.js";

/**
 * @typedef {import("./types.js").State} State
 * @typedef {import("./address.js").Place} Place
 * @typedef {import("./address.js").Known} Known
 */

const PAUSE_MS = 400; // browsers refuse an address that changes more often than about three times a second
const MODEL_SECONDS = 120; // a whole class may stand in the line; for what surely comes, however busy a machine is
const MOST_TOKENS = 1e6; // of a vocabulary: an address may be of any model, and its sliders stop where it ends
const OPENING_SECONDS = 4; // until the run that the page opens with is there
const FORKING_TAB = "sampling";
const TALKING_TAB = ["sampling", "answer-reading"];

/** Keys of the store that belong to a place, and what they may be. @type {Record<string, import("./address.js").Kind>} */
const VIEW = {
  layer: { min: 0, max: 999, whole: true },
  position: { min: 0, max: 1e6, whole: true },
  head: { min: -1, max: 999, whole: true },
  stage: { min: 0, max: 99, whole: true },
  log: { options: [true, false] },
  live: { options: [true, false] },
  compareBy: { options: ["tokens", "text"] },
  cacheStep: { min: 0, max: 1e6, whole: true },
  num_tokens: { min: 1, max: 1e6, whole: true },
  reason: { options: ["mask", "feed_forward", "weights", "positions", "added", "early"] },
  knob: { options: ["temperature", "top_p", "top_k"] },
  second: { letters: 2000 },
  question: { options: ["Q3", "Q4", "Q5", "Q6", "Q7", "Q8", "Q9", "Q10", "Q11"] },
};

/** @type {((text: string) => Promise<string[]>) | null} */
let open = null; // of the mounted page
/** @type {string[] | null} */
let offered = null; // where visitors load models: those of now

/** The models that the page has now. @param {string[]} names */
export function offerModels(names) {
  offered = names;
}

/** Goes to the place of an address. Resolves, when it is there, with the names in the address that were refused.
 * @param {string} text  with or without what stands before # @returns {Promise<string[]>} */
export async function openAddress(text) {
  return (await eventually(() => open))?.(text) ?? [];
}

/** @param {HTMLElement} _element @param {import("./types.js").PanelApi} api @returns {import("./types.js").Panel} */
export function mount(_element, api) {
  begin(api).catch((error) => console.error("links:", error));
  return {};
}

/** @param {import("./types.js").PanelApi} api */
async function begin(api) {
  const { store } = api;
  const isReady = () =>
    store.get().params && store.get().bar && openTabs().length && document.querySelector("#generate");
  await eventually(isReady, MODEL_SECONDS);
  const known = knownOf(store.get(), api.props.value?.models ?? []);
  const note = node("p.link-note", { role: "alert" }, overPage());
  note.addEventListener("click", () => say(note, ""));
  let isTouched = false; // before that the address stays as it came
  let trips = 0; // a newer one ends the one before it
  let isOnTheWay = false;

  /** @param {string} text */
  async function go(text) {
    const trip = ++trips;
    isOnTheWay = true;
    const { place, refused } = placeOf(text, { ...known, models: offered ?? known.models });
    try {
      refused.push(...(await travel(api, place, () => trip !== trips)));
    } finally {
      if (trip === trips) isOnTheWay = false;
    }
    writer.later();
    say(note, refused.length ? words.say("links.refused", { names: refused.join(", ") }) : "");
    return refused;
  }

  const writer = addressWriter(() =>
    isTouched && !isOnTheWay ? addressOf(placeNow(store.get()), known.opening) : null,
  );
  for (const kind of ["pointerdown", "keydown", "input"])
    document.addEventListener(kind, () => (isTouched = true), { capture: true, once: true });
  store.on(
    ["run", "params", "step", "bar", "isPlaying", .../** @type {(keyof State)[]} */ (Object.keys(VIEW))],
    writer.later,
  );
  followExperiments(() => openTabs().join("/"), writer.later);
  whenTabChanges(writer.now, writer.push);
  document.addEventListener("presenting", writer.later);
  window.addEventListener("pagehide", writer.now);
  window.addEventListener("popstate", () => go(location.hash));
  addCopyButton(writer.now);
  open = go;
  if (api.props.value?.more) await eventually(() => offered, OPENING_SECONDS);
  if (location.hash.length > 1) await go(location.hash);
}

/** What the page takes, and where it opens. @param {State} state @param {string[]} models @returns {Known} */
function knownOf(state, models) {
  const params = /** @type {import("./types.js").Params} */ (state.params);
  const { most_new_tokens: mostSteps, most_seed: mostSeed } = params;
  /** @type {Known["settings"]} */
  const settings = {
    seed: { min: 0, max: mostSeed, whole: true },
    max_new_tokens: { min: 1, max: mostSteps, whole: true },
    rule: { options: ruleNames() },
    penalty_counts_prompt: { options: [true, false] },
    system: { letters: MOST_LETTERS },
  };
  for (const { field, span, whole } of settingsOf())
    settings[field] = { min: span[0], max: span[1] ?? MOST_TOKENS, whole };
  const opening = { ...placeNow(state), step: null };
  return { opening, models, settings, view: VIEW, vocabSize: MOST_TOKENS, mostSteps };
}

/** @param {State} state @returns {Place} */
function placeNow(state) {
  const { params, bar, run, recipe, step } = state;
  const settings = Object.fromEntries(settingNames().map((name) => [name, params?.[name]]));
  const written = recipe && { ...answerOf(recipe) };
  const tab = openTabs();
  return {
    tab,
    model: bar?.model ?? "",
    prompt: bar?.prompt ?? "",
    settings,
    answer: written ? differences(written, { model: bar?.model, prompt: bar?.prompt, history: "", ...settings }) : {},
    forced: recipe?.forced ?? [],
    step: run ? step : null,
    view: viewNow(state),
    ...experimentsNow(tab.join("/")),
    ...presented(),
  };
}

/** While the pictures of the cache play, their place is where they end. @param {State} state */
function viewNow(state) {
  const view = Object.fromEntries(Object.keys(VIEW).map((key) => [key, state[key]]));
  return state.isPlaying ? { ...view, cacheStep: null } : view;
}

function settingNames() {
  return [
    ...settingsOf().map(({ field }) => field),
    "seed",
    "max_new_tokens",
    "rule",
    "penalty_counts_prompt",
    "system",
  ];
}

/** @param {import("./types.js").Recipe} recipe @returns {Record<string, any>} */
function answerOf({ model, prompt, system, history, params, maxNewTokens }) {
  const talk = { system, history: history.length ? JSON.stringify(history) : "" };
  return { model, prompt, ...talk, ...params, max_new_tokens: maxNewTokens };
}

/** From where a person is to a place. Resolves with the names of what this model does not have.
 * @param {import("./types.js").PanelApi} api @param {Place} place @param {() => boolean} isOver @returns {Promise<string[]>} */
async function travel(api, place, isOver) {
  const { store } = api;
  await openTab(place.tab);
  if (isOver()) return [];
  let isForced = true;
  if (place.view.question) await askQuestion(store, String(place.view.question));
  else isForced = await writeAnswer(api, place, isOver);
  if (isOver()) return [];
  await setBar(api, place);
  await setSettings(store, place.model, place.settings);
  const { question, ...view } = place.view;
  store.set({ ...view, ...(question ? {} : { question: null }), ...(place.step === null ? {} : { step: place.step }) });
  await repeatExperiment(place.fields, place.pressed);
  if (!isOver()) await present(place.figure, place.lecture);
  return isForced ? [] : ["forced"];
}

/** The answer of the place, if it is not on the page: by Generate, then token by token where one was chosen by hand.
 * Whether the model has these. @param {import("./types.js").PanelApi} api @param {Place} place @param {() => boolean} isOver
 * @returns {Promise<boolean>} */
async function writeAnswer(api, place, isOver) {
  const { store } = api;
  if (place.step !== null) await eventually(() => store.get().recipe, OPENING_SECONDS); // a step is of an answer
  const { recipe, run, bar, params } = store.get();
  const present = recipe
    ? { ...answerOf(recipe), forced: JSON.stringify(recipe.forced) }
    : place.step === null && wantedAnswer({ ...place, ...bar, settings: { ...params }, answer: {}, forced: [] });
  if (present && isSameAnswer(wantedAnswer(place), present)) return true;
  const asked = { ...place, ...place.answer };
  await setBar(api, asked);
  await setSettings(store, asked.model, { ...place.settings, ...place.answer });
  const jobBefore = /** @type {Window & { jobNumber?: number }} */ (window).jobNumber ?? 0;
  /** @type {HTMLElement | null} */
  const generate = document.querySelector("#generate");
  if (place.answer.history) await askTurn(store, place);
  else generate?.click();
  const isAnswered = () => {
    const { job, run: made } = store.get();
    if (isOver()) return true;
    if (!job || job.number <= jobBefore || isUnderWay(job)) return false;
    return job.state !== "done" || isAnother(made, run);
  };
  await eventually(isAnswered, MODEL_SECONDS);
  return place.forced.length === 0 || forceTokens(store, place, isOver);
}

/** The tab where a conversation goes on has to be open once. @param {import("./types.js").Store} store @param {Place} place */
async function askTurn(store, place) {
  const { model = place.model, prompt = place.prompt, history } = place.answer;
  if (!store.get().ask) {
    await openTab(TALKING_TAB);
    await eventually(() => store.get().ask, MODEL_SECONDS);
    await openTab(place.tab);
  }
  store.get().ask?.(model, JSON.parse(history), prompt, null);
}

/** The tab where a token is forced has to be open once. Whether the model has all these tokens.
 * @param {import("./types.js").Store} store @param {Place} place @param {() => boolean} isOver @returns {Promise<boolean>} */
async function forceTokens(store, place, isOver) {
  if (!store.get().fork) {
    await openTab([FORKING_TAB]);
    await eventually(() => store.get().fork, MODEL_SECONDS);
    await openTab(place.tab);
  }
  for (const [step, tokenId] of place.forced) {
    const { run, fork } = store.get();
    if (isOver() || !run || !fork || run.tokenIds[step] === tokenId) continue;
    if (tokenId >= run.vocabSize) return false;
    fork(step, tokenId);
    await eventually(() => isAnother(store.get().run, run), MODEL_SECONDS);
  }
  return true;
}

/** @param {import("./types.js").Run | null} run @param {import("./types.js").Run | null} before */
const isAnother = (run, before) => Boolean(run?.logits && run.id !== before?.id);

/** Its button sets the bar and writes an answer by itself. @param {import("./types.js").Store} store @param {string} question */
async function askQuestion(store, question) {
  const { run, question: before } = store.get();
  if (question === before) return;
  store.set({ question });
  await eventually(() => isAnother(store.get().run, run) || store.get().question !== question, MODEL_SECONDS);
}

/** Model and prompt are Gradio's: its own event sets them, see bar.py.
 * @param {import("./types.js").PanelApi} api @param {{ model: string, prompt: string }} wanted */
async function setBar({ store, ...api }, { model, prompt }) {
  const isThere = () => store.get().bar?.model === model && store.get().bar?.prompt === prompt;
  if (isThere()) return;
  api.setValue({ model, prompt });
  api.trigger("opened");
  await eventually(isThere, MODEL_SECONDS);
}

/** @param {import("./types.js").Store} store @param {string} model @param {Record<string, any>} settings */
async function setSettings(store, model, settings) {
  await controlsFollow(model);
  setControls({ ...settings, top_k: Math.min(settings.top_k, store.get().params?.vocab_size) });
}

/** Writes what `textNow` gives, null: nothing, as the address. @param {() => string | null} textNow */
function addressWriter(textNow) {
  let timer = 0;

  /** @param {"replaceState" | "pushState"} how */
  function write(how) {
    clearTimeout(timer);
    timer = 0;
    const text = textNow();
    if (text === null || `#${text}` === location.hash || (!text && !location.hash)) return;
    history[how](history.state, "", text ? `#${text}` : location.pathname + location.search);
  }

  return {
    now: () => write("replaceState"),
    push: () => write("pushState"),
    later() {
      timer ||= window.setTimeout(() => write("replaceState"), PAUSE_MS);
    },
  };
}

/** @param {() => void} write  brings the address up to date */
function addCopyButton(write) {
  const button = cornerButton("links.copy", { id: "copy-link", title: words.say("links.copy_title") });
  let timer = 0;
  button.addEventListener("click", async () => {
    write();
    const isCopied = await copyText(location.href);
    const told = words.say(isCopied ? "links.copied" : "links.not_copied");
    say(button, told);
    announce(told);
    clearTimeout(timer);
    timer = window.setTimeout(() => say(button, words.say("links.copy")), 2000);
  });
}
