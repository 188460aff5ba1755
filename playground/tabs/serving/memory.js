// How many users a machine serves before its memory is full of KV caches: what memory.py computes, in the browser.

/**
 * What decides the size of a cache; memory.py says more of each.
 * @typedef {object} Shape
 * @property {number} layers
 * @property {number} heads
 * @property {number} kvHeads
 * @property {number} headDim
 * @property {number} hidden
 * @property {number | null} window
 * @property {number} slidingLayers
 * @property {number | null} latent  numbers a token and layer where keys and values are compressed
 * @property {number} ownHeads  the same if every query head kept its own keys and values
 */

/**
 * Of a server: bytes, and bytes a second.
 * @typedef {object} Setup
 * @property {number} memory
 * @property {number} bandwidth
 * @property {number} tokens  of one user
 * @property {number} cacheBits
 * @property {number} weightBits
 * @property {number} usable  share of the memory for weights and caches
 * @property {number} parameters
 * @property {number} activeParameters  read for each token
 */

/** @typedef {{ perToken: number, perUser: number, weights: number, room: number, users: number, tokensPerSecond: number }} Plan */
/** @typedef {Record<string, any>} Config  config.json under Hugging Face's names */

export const MOST_LETTERS = 20_000; // of a pasted config.json; the longest that are published have about 5,000
const MOST = { layers: 2000, heads: 4096, size: 1_000_000, vocabulary: 10_000_000, window: 10 ** 9 };

/** A config.json that somebody pasted. What is wrong with it is a key of serving.config, with the name of an entry.
 * @param {string} text @returns {{ config: Config | null, problem: string | null, name: string }} */
export function readConfig(text) {
  if (!text.trim()) return refused("empty");
  if (text.length > MOST_LETTERS) return refused("too_long");
  let config;
  try {
    config = JSON.parse(text);
  } catch {
    return refused("not_json");
  }
  if (isObject(config) && isObject(config.text_config) && !("num_hidden_layers" in config)) config = config.text_config;
  if (!isObject(config)) return refused("not_json");
  try {
    shapeOf(config);
  } catch (error) {
    return refused("entry", String(/** @type {Error} */ (error).message));
  }
  return { config, problem: null, name: "" };
}

/** @param {string} problem @param {string} name */
const refused = (problem, name = "") => ({ config: null, problem, name });

/** @param {any} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws an Error whose message is the name of the entry that is missing or no sensible number.
 * @param {Config} config @returns {Shape} */
export function shapeOf(config) {
  const layers = number(config, ["num_hidden_layers", "n_layer"], MOST.layers);
  const heads = number(config, ["num_attention_heads", "n_head"], MOST.heads);
  const hidden = number(config, ["hidden_size", "n_embd"], MOST.size);
  const kvHeads = number(config, ["num_key_value_heads"], MOST.heads, heads);
  const headDim = number(config, ["head_dim"], MOST.size, Math.floor(hidden / heads));
  const shape = { layers, heads, kvHeads, headDim, hidden, ...slidingOf(config, layers) };
  if ((config.kv_lora_rank ?? null) === null) return { ...shape, latent: null, ownHeads: 2 * heads * headDim };
  const names = ["kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"];
  const [latent, rotary, plain, values] = names.map((name) => number(config, [name], MOST.size));
  return { ...shape, latent: latent + rotary, ownHeads: heads * (plain + rotary + values) };
}

/** The entry of the first name that is there. @param {Config} config @param {string[]} names @param {number} most @param {number} [fallback] */
function number(config, names, most, fallback) {
  const name = names.find((each) => (config[each] ?? null) !== null);
  const value = name === undefined ? fallback : config[name];
  if (!isWhole(value, most)) throw new Error(names[0]);
  return value;
}

/** @param {any} value @param {number} most @returns {value is number} */
const isWhole = (value, most = Number.MAX_SAFE_INTEGER) => Number.isInteger(value) && value >= 1 && value <= most;

/** The window, and how many layers have it. @param {Config} config @param {number} layers */
function slidingOf(config, layers) {
  if ((config.sliding_window ?? null) === null || config.use_sliding_window === false)
    return { window: null, slidingLayers: 0 };
  const window = number(config, ["sliding_window"], MOST.window);
  const { layer_types: kinds, sliding_window_pattern: every, max_window_layers: first } = config;
  if (Array.isArray(kinds)) {
    const sliding = kinds.filter((kind) => kind === "sliding_attention").length;
    return { window, slidingLayers: Math.min(layers, sliding) };
  }
  if (isWhole(every)) return { window, slidingLayers: layers - Math.floor(layers / every) };
  if (config.use_sliding_window === true && Number.isInteger(first))
    return { window, slidingLayers: Math.max(0, layers - first) };
  return { window, slidingLayers: layers };
}

/** Stored of one token in one layer. @param {Shape} shape */
const numbersOf = ({ latent, kvHeads, headDim }) => latent ?? 2 * kvHeads * headDim;

/** Of one text of so many tokens. @param {Shape} shape @param {number} tokens @param {number} bits */
export function cacheBytes(shape, tokens, bits) {
  const sliding = shape.slidingLayers * Math.min(tokens, shape.window ?? tokens);
  return (numbersOf(shape) * ((shape.layers - shape.slidingLayers) * tokens + sliding) * bits) / 8;
}

/** Of one more token, while no window is full. @param {Shape} shape @param {number} bits */
export function bytesPerToken(shape, bits) {
  return (numbersOf(shape) * shape.layers * bits) / 8;
}

/** Numbers in the weights; null: no short formula knows. @param {Config} config @returns {number | null} */
export function parametersOf(config) {
  if (Number.isInteger(config.num_parameters)) return config.num_parameters;
  const shape = shapeOf(config);
  const { vocab_size: vocabulary, model_type: kind, intermediate_size: inner } = config;
  if (!isWhole(vocabulary, MOST.vocabulary) || hasExperts(config)) return null;
  const { hidden, layers, heads, kvHeads, headDim } = shape;
  if (kind === "gpt2") {
    const positions = number(config, ["n_positions"], MOST.vocabulary, 1024);
    return (vocabulary + positions + 2) * hidden + layers * (12 * hidden + 13) * hidden;
  }
  if (!isWhole(inner, MOST.size) || shape.latent !== null) return null;
  const rows = (heads + 2 * kvHeads) * headDim;
  const small = kind === "qwen2" ? rows : kind === "qwen3" ? 2 * headDim : 0; // biases, or norms of Q and K
  const layer = hidden * (rows + heads * headDim + 3 * inner + 2) + small;
  return (config.tie_word_embeddings ? 1 : 2) * vocabulary * hidden + layers * layer + hidden;
}

/** @param {Config} config */
function hasExperts(config) {
  return ["n_routed_experts", "num_experts", "num_local_experts"].some((name) => (config[name] ?? null) !== null);
}

/** @param {Shape} shape @param {Setup} setup @returns {Plan} */
export function plan(shape, setup) {
  const { memory, bandwidth, tokens, cacheBits, weightBits, usable, parameters, activeParameters } = setup;
  const perUser = cacheBytes(shape, tokens, cacheBits);
  const weights = (parameters * weightBits) / 8;
  const room = memory * usable - weights;
  return {
    perToken: bytesPerToken(shape, cacheBits),
    perUser,
    weights,
    room,
    users: Math.max(0, Math.floor(room / perUser)),
    tokensPerSecond: bandwidth / ((activeParameters * weightBits) / 8 + perUser),
  };
}

/** One thing changed at a time, by the names of serving.change; first as it is.
 * @param {Shape} shape @param {Setup} setup @returns {[string, Shape, Setup][]} */
export function changes(shape, setup) {
  /** @type {[string, Shape, Setup][]} */
  const found = [["now", shape, setup]];
  if (shape.latent !== null) found.push(["own_heads", { ...shape, latent: shape.ownHeads }, setup]);
  else if (shape.kvHeads < shape.heads) found.push(["own_heads", { ...shape, kvHeads: shape.heads }, setup]);
  else {
    const group = [8, 7, 6, 5, 4, 3, 2, 1].find((size) => shape.heads % size === 0) ?? 1;
    if (group > 1) found.push(["grouped", { ...shape, kvHeads: shape.heads / group }, setup]);
  }
  for (const bits of [8, 4])
    if (bits < setup.cacheBits) found.push([`bits_${bits}`, shape, { ...setup, cacheBits: bits }]);
  const window = windowFor(setup.tokens);
  if (shape.slidingLayers) found.push(["no_window", { ...shape, window: null, slidingLayers: 0 }, setup]);
  else if (window < setup.tokens) found.push(["window", { ...shape, window, slidingLayers: shape.layers }, setup]);
  return found;
}

/** The window that is shown: Mistral's, or for short texts a quarter. @param {number} tokens */
export function windowFor(tokens) {
  return tokens > 4096 ? 4096 : Math.max(1, Math.floor(tokens / 4));
}

/** Bytes that a usual mistake gives, over the right ones, by the names of serving.wrong.
 * @param {Shape} shape @returns {Record<string, number>} */
export function wrongFormulas(shape) {
  const right = numbersOf(shape);
  if (shape.latent !== null)
    return { mla_heads: shape.ownHeads / right, mla_twice: 2, bits: 8, one_layer: 1 / shape.layers };
  return {
    all_heads: shape.heads / shape.kvHeads,
    one_of_two: 0.5,
    hidden: (2 * shape.hidden) / right,
    head_of_hidden: shape.hidden / shape.heads / shape.headDim,
    bits: 8,
    one_layer: 1 / shape.layers,
  };
}
