// A question to Python and its answer, through the value of a panel: { number, ... } goes, { reply: number, ... } comes.

const PATIENCE_MS = 30000;

let turns = Promise.resolve();
let inTurn = false;

/** Waits for its turn, then does `act`: what changes the run that all pictures show is done one after the other. */
export async function takeTurn(act) {
  const mine = turns.then(async () => {
    inTurn = true;
    try {
      await act();
    } finally {
      inTurn = false;
    }
  });
  turns = mine.catch(() => {});
  return mine;
}

/** Whether somebody's turn is under way. */
export function isTurnTaken() {
  return inTurn;
}

/** asker(api) for a panel with the event "asked". ask(question) never rejects: what went wrong is in `problem`. */
export function asker(api) {
  let waiting = null;
  let number = 0;

  function settle(value) {
    if (!waiting) return;
    clearTimeout(waiting.timer);
    const { resolve } = waiting;
    waiting = null;
    resolve(value);
  }

  return {
    get busy() {
      return waiting !== null;
    },
    ask(question) {
      number += 1;
      return new Promise((resolve) => {
        const late = { problem: "The server did not answer within 30 seconds. Try again." };
        waiting = { number, resolve, timer: setTimeout(() => settle(late), PATIENCE_MS) };
        api.setValue({ ...question, number });
        api.trigger("asked");
      });
    },
    /** Call it with every value that the panel is given. */
    take(value) {
      if (waiting && value?.reply === waiting.number) settle(value);
    },
  };
}
