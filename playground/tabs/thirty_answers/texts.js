// How an answer and its end are said.

import * as words from "../../page/js/words.js";

/** @param {string} text */
export const textOf = (text) => text || words.say("thirty_answers.empty");

/** The name of a reason to stop in the catalogue, where names have no spaces. @param {string} reason */
export const keyOf = (reason) => reason.replaceAll(" ", "_");

/** @param {string} reason */
export const reasonOf = (reason) => words.say(`thirty_answers.ends.${keyOf(reason)}`);

/** @param {number} count */
export const times = (count) => words.say("thirty_answers.times", { count });
