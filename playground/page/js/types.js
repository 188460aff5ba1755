// The shapes that modules hand to each other, as JSDoc types: nothing here runs. `npx tsc` holds every module against them.

/**
 * The settings as the sliders have them, under the field names of SamplingParams in playground/engine/params.py.
 * @typedef {Record<string, any> & { temperature: number, seed: number, rule: string }} Params
 */

/**
 * The logits of a run: all of them (N * V) for N steps and V tokens in the vocabulary, or of a large vocabulary the
 * largest and the tail in bins, see binned.js.
 * @typedef {Float32Array | import("./binned.js").BinnedLogits} Logits
 */

/**
 * The order of the tokens at every step, see ranking.js.
 * @typedef {object} Order
 * @property {import("./weights.js").StepScores[]} steps
 * @property {Int32Array} places  of the recorded token of each step in its ranking, from 0
 */

/**
 * What reread.js needs of a run.
 * @typedef {object} Recording
 * @property {number} numSteps
 * @property {number} vocabSize
 * @property {Logits | null} logits  null: not complete, it cannot be read again yet
 * @property {number[]} tokenIds
 * @property {number[]} promptIds
 * @property {number[]} uniforms  the random number of each step
 * @property {Params} [params]  that it was written under
 * @property {Set<number>} [forced]  steps whose token a person chose
 * @property {Order} [order]
 * @property {{ key: string, order: Order }} [penalized]  under the penalties last asked for
 */

/**
 * A recorded answer. `logits` come when it is complete; until then it is null.
 * @typedef {object} Run
 * @property {string} id
 * @property {string} model
 * @property {string} prompt
 * @property {string} system  the system prompt; "": none
 * @property {string[]} history  questions and answers by turns, before the prompt
 * @property {number | null} held  tokens in the cache that the answer began with; null: there was none
 * @property {number[]} promptIds
 * @property {number} promptLength
 * @property {string[]} promptLabels
 * @property {number[]} tokenIds
 * @property {string[]} labels  of the tokens of the answer
 * @property {string[]} pieces  the text that each of them added
 * @property {number[]} uniforms
 * @property {number[]} numFed
 * @property {number[][]} cacheBytes  of each layer after each step
 * @property {number[]} seconds
 * @property {string} stopReason
 * @property {Params} params  that it was written under
 * @property {number} maxNewTokens
 * @property {Set<number>} forced
 * @property {string[]} vocabulary  the label of every token id
 * @property {string[]} tokenBytes
 * @property {number} trainedLength
 * @property {number} vocabSize
 * @property {number} numSteps
 * @property {Logits | null} logits
 * @property {number} [rewrittenFrom]  the step from which it was written again for a moving slider
 * @property {Order} [order]
 * @property {{ key: string, order: Order }} [penalized]
 */

/**
 * All steps of a run under other settings; every array is as long as the answer. See reread.js.
 * @typedef {object} Reread
 * @property {Int32Array} numCandidates
 * @property {Int32Array} chosenIds  what each step's own random number picks now
 * @property {Float64Array} entropy  nats
 * @property {Float64Array} chosenProb  of the recorded token, after all stages
 * @property {Int32Array} chosenRank  from 1
 * @property {Float64Array} chosenModelProb  before any stage
 * @property {number | null} firstDifference  the first step that would pick another token
 * @property {Record<"numCandidates" | "chosenIds" | "entropy" | "chosenProb" | "chosenModelProb", Uint8Array> | null} estimated
 *   1 at the steps where a number is an estimate; null: none is
 */

/**
 * What a stage leaves: the places of the ranking from `start` up to, not including, `stop`.
 * @typedef {object} Stage
 * @property {string} name
 * @property {number} start
 * @property {number} stop
 * @property {number} least  that `stop` may be, where the tail came in bins
 * @property {number} most
 * @property {[number, number]} starts  the first and the last place that `start` may be
 * @property {number} numKept
 * @property {number} keptMass  the part of the probability before it that it kept
 * @property {number} keptError  how far that may be off, as a part of itself
 * @property {boolean} cuts
 * @property {number} temperature
 * @property {number} base  the place from which exponents count
 * @property {number} error  how far probabilities after it may be off, as a part of themselves
 * @property {Float64Array} [probs]  after it
 */

/**
 * One step in full; what is per token stands in the order of `ranking`.
 * @typedef {object} StepReread
 * @property {number} step
 * @property {Uint32Array} ranking
 * @property {Float64Array} scores
 * @property {Float64Array} modelProbs
 * @property {Float64Array} probs
 * @property {Stage} uncut
 * @property {(Stage & { probs: Float64Array })[]} stages
 * @property {number} start
 * @property {number} stop
 * @property {number} numCandidates
 * @property {number} entropy
 * @property {number} uniform
 * @property {number} chosenPlace  of the recorded token, from 0
 * @property {number} sampledPlace  of the token that the random number picks now
 * @property {Record<"numCandidates" | "probs" | "chosenProb" | "modelProbs" | "entropy" | "sampledPlace", boolean>} estimated
 */

/**
 * What a run can be written again from, see recipe.js.
 * @typedef {object} Recipe
 * @property {string} model
 * @property {string} prompt
 * @property {string} system
 * @property {string[]} history
 * @property {Params} params
 * @property {number} maxNewTokens
 * @property {[step: number, tokenId: number][]} forced
 */

/**
 * One side of two runs: what it wrote, and when.
 * @typedef {object} Side
 * @property {number[]} token_ids
 * @property {string[]} labels
 * @property {number[]} fed  tokens that went in at each step
 * @property {number[]} clock  seconds of its own since the start, after each step
 */

/**
 * What came out of two runs, see result_facts in tabs/cache_on_off/race_values.py. A side's seconds are those of one
 * repeat, the one with the median total; ranges are over all repeats.
 * @typedef {object} ComparisonResult
 * @property {Record<"on" | "off", { fed: number, multiply_adds: number, first_seconds: number,
 *   later_seconds: number | null, total_seconds: number, total_range: [number, number], seconds: number[] }>} sides
 * @property {Record<"on" | "off", number>} expected  tokens fed, by the formulas
 * @property {number} prompt_length
 * @property {number} new_tokens
 * @property {boolean} equal
 * @property {number | null} first_difference  the step where the texts diverge
 * @property {number} largest_gap  between logits
 * @property {number | null} gap_there  at the step where the texts diverge
 * @property {"tie" | "sampling" | null} diverged_by  how so small a gap did it
 * @property {number} token_ratio
 * @property {number} time_ratio
 * @property {{ first: [number, number], later: [number, number] | null, total: [number, number] }} time_ranges  off / on
 * @property {number} repeats
 * @property {number | null} spread  how far the repeats lie apart, as a part of their median
 * @property {boolean} noisy
 * @property {string} machine
 * @property {number | null} pays_from  the step from which the cached side is clearly ahead
 * @property {number} cache_tokens
 * @property {number} cache_bytes
 * @property {number} read_again  rows of keys and values
 * @property {{ fed: number, times: number } | null} last_pass  without the cache, against a pass over one token
 * @property {number} num_weights
 */

/**
 * One answer twice, cache on and off, as it goes.
 * @typedef {object} Comparison
 * @property {string} id
 * @property {"short" | "bar" | "course"} kind
 * @property {string} model
 * @property {string} prompt
 * @property {string} [system]  the system prompt, where that of the page stands in front of the prompt
 * @property {Record<string, any>} params  the sliders it was run with
 * @property {boolean} past_stop  whether it was written on through stop tokens
 * @property {number} asked  new tokens
 * @property {number} prompt_length
 * @property {number} max_new  new tokens, and when it is over those that came
 * @property {number | null} ends  the step of the first stop token
 * @property {Record<"on" | "off", Side>} sides
 * @property {{ run: number, of: number } | null} again  written once more, only for the clocks
 * @property {ComparisonResult | null} result
 * @property {Record<string, any> | null} figures  for Plotly, at the end
 */

/**
 * Two models on one prompt, from pair_value in tabs/two_models/pair_values.py.
 * @typedef {object} Pair
 * @property {string} prompt
 * @property {string | null} system  the system prompt; null: neither model takes one
 * @property {[import("./words.js").Told, import("./words.js").Told]} titles
 * @property {Run} left  with its answer
 * @property {Run} reading  the right model over the left answer
 * @property {[string[], string[]]} answers  labels of the tokens that each wrote
 * @property {[number, number, number, number][]} columns  tokens of the left answer, from and up to; of the right one
 * @property {number | null} different  the first column that says something else
 * @property {number} equal  tokens before it
 * @property {(number | null)[]} places  for each step of `left` that of `reading` after the same text
 * @property {(number | null)[] | null} kl  bits at each step, null where it is infinite; null: the tokens are others
 * @property {[number | null, number | null] | null} bits_per_byte  of the left answer's text
 */

/**
 * What the model was asked to answer many times, or what was sampled as such a request says.
 * `system`: the system prompt, which a base model does not have. `history`: questions and answers by turns.
 * @typedef {{ model: string, prompt: string, system?: string, history?: string[], params: Record<string, any> }} AnswersRequest
 */

/**
 * The thirty answers: what came last, and how it stands with what was asked for last. See thirty_answers/asking.js.
 * @typedef {object} Answers
 * @property {AnswersRequest | null} asked
 * @property {import("./jobs.js").Job | null} job
 * @property {string | null} problem  of what was asked for last
 * @property {(AnswersRequest & Record<string, any>) | null} value  from answer_values in thirty_answers/values.py
 */

/**
 * A distribution that was typed: names with logits or probabilities, and the random number. See one_answer/by_hand.js.
 * @typedef {{ kind: "probs" | "logits", tokens: [name: string, value: number][], uniform: number }} Hand
 */

/**
 * Everything that is chosen on the page, and what follows from it. See store.js.
 * @typedef {object} State
 * @property {Run | null} run  the answer that all pictures show
 * @property {Params | null} params  the sliders
 * @property {number} step  the step looked at
 * @property {number | null} cacheStep  the step that the pictures of the cache stand at; null: the last
 * @property {boolean} isPlaying  whether cacheStep is on its way to the last step by itself
 * @property {number | null} num_tokens  that a cache is measured with; null: as many as the answer's cache holds
 * @property {string} reason  why caching is safe: the one that is taken away, see keeping_values.py
 * @property {number | null} hover  the token id under the pointer
 * @property {boolean} log  whether the candidates stand on a logarithmic axis
 * @property {boolean} dark
 * @property {number | null} layer  looked into; null: Python chooses
 * @property {number | null} position  of the token that is changed in the cache; null: Python chooses
 * @property {number} head  of the attention; -1: the mean of all
 * @property {number} stage  of a token's walk through a layer
 * @property {{ model: string, prompt: string } | null} bar  what is in its boxes
 * @property {Answers} answers  the thirty answers
 * @property {number[]} maskScores  that the mask is tried on; the last one is hidden
 * @property {"tokens" | "text"} compareBy  what makes two of the thirty answers the same
 * @property {string} knob  the setting along which the curve of different answers goes
 * @property {string | null} second  the prompt whose curve stands beside it; "": none, null: not chosen yet
 * @property {number[] | null} answerRows  those of the thirty that are pointed at
 * @property {Comparison | null} race  the two runs that cache_on_off/race.js shows, from their first token on
 * @property {Comparison | null} comparison  the newest that came to its end, in whichever tab
 * @property {Pair | null} pair  two models on one prompt, as tabs/two_models/compare.js shows them
 * @property {number} pairStep  of the left one's answer
 * @property {boolean} live  whether the answer is written again when the sliders change it
 * @property {Run[]} branches  an answer as it was, then what it became with other tokens
 * @property {{ run: Run, params: Params } | null} pinned  an answer that is held beside the present one, and its sliders
 * @property {string | null} question  whose card is open
 * @property {Hand} hand  what was typed by hand
 * @property {((step: number, tokenId: number) => void) | null} fork  goes on from a step with another token
 * @property {string} next  the question that is being written for a conversation
 * @property {((model: string, history: string[], prompt: string, run: string | null) => void) | null} ask  the next of a conversation
 * @property {import("./jobs.js").Job | null} job  how Generate's work stands
 * @property {Reread | null} reread  worked out from run and params
 * @property {Recipe | null} recipe  worked out from run
 */

/**
 * @callback Listener
 * @param {State} state
 * @returns {void}
 */

/**
 * @typedef {object} Store
 * @property {() => State} get
 * @property {(patch: Partial<State>) => void} set
 * @property {(keys: (keyof State)[] | null, listener: Listener) => () => void} on
 */

/**
 * What Gradio gives to a panel, from page/panel.py.
 * @typedef {object} GradioPanel
 * @property {string} name
 * @property {HTMLElement} element
 * @property {{ value: any }} props
 * @property {(event: string) => void} trigger
 * @property {(prop: string, listener: () => void) => void} watch
 * @property {Record<string, (given?: any) => Promise<any>>} server
 */

/**
 * What mount(element, api) is given.
 * @typedef {object} PanelApi
 * @property {{ value: any }} props
 * @property {(event: string) => void} trigger
 * @property {Record<string, (given?: any) => Promise<any>>} server
 * @property {Store} store
 * @property {number} width  of the element in pixels, 0 while it is hidden
 * @property {(value: any) => void} setValue  what goes to Python with the next event
 */

/**
 * What it gives back. `reads` are the keys of the state that `draw` looks at: it is called when one of them changes.
 * @typedef {object} Panel
 * @property {(keyof State)[]} [reads]
 * @property {(value: any) => void} [update]  a value came from Python
 * @property {Listener} [draw]
 */

export {};
