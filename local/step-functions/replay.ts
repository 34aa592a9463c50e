import { asStatesError, StatesError } from './errors.ts';
import type { Answer, AnsweredRecord, Journal } from './journal/records.ts';
import { createRandom, type Random } from './random.ts';
import type { Timers } from './timers.ts';

/** What an integration answers to a call whose first answer was lost: evaluate its Arguments once more, and send them. */
export const AGAIN = Symbol('again');

/** One call of an integration. */
export interface Attempt {
  /** Aborts on the timeout of the call and when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** It began before the process died, and nobody knows what came of it. */
  readonly lost: boolean;
  /** Notes that it begins; again as often as anybody likes. Throws when it cannot be noted: then it must not begin. */
  readonly begins: () => void;
}

/**
 * All that an execution learns while it runs: what its tasks answer, that a wait is over, the time, random numbers.
 * What it does is a function of these alone. So an execution whose process died runs again from its start, is given the
 * same answers in the same order, decides the same, and comes to where it was. This rests on four rules:
 *   - an answer is in the journal before anybody acts on it;
 *   - it is handed over when everything that the last one set off has come to rest. Between two answers there is
 *     nothing but microtasks, so that one turn of the event loop is enough;
 *   - the clock stands still between two answers, at the instant of the earlier one;
 *   - random numbers follow from a seed.
 */
export interface Outside {
  /** Epoch milliseconds of the last answer, or of the start. */
  now(): number;
  readonly random: Random;
  /** Resolves in the next turn of the event loop: StartExecution answers before the first state runs, as on AWS. */
  begin(): Promise<void>;
  /** Waits so many milliseconds of workflow time, or rejects with the signal's reason if that comes first. */
  sleep(state: string, milliseconds: number, signal: AbortSignal): Promise<void>;
  /**
   * Makes a call and waits for its answer, States.Timeout after so many milliseconds; rejects like `sleep`. `waits`: it
   * begins when it says so, and not at once.
   */
  call(
    state: string,
    milliseconds: number,
    signal: AbortSignal,
    make: (attempt: Attempt) => Promise<Answer>,
    waits?: boolean,
  ): Promise<Answer>;
}

export interface OutsideParts {
  readonly execution: number;
  readonly seed: string;
  /** Epoch milliseconds of the start. */
  readonly since: number;
  readonly timers: Timers;
  readonly now: () => number;
  readonly journal: Journal | undefined;
  /** Of the execution: nothing is answered once it is aborted, and it is when the journal tells of another execution. */
  readonly abort: AbortController;
  /** What the journal knows of an execution that goes on. */
  readonly before?: Before | undefined;
}

export interface Before {
  /** Numbers of the calls that began. */
  readonly called: ReadonlySet<number>;
  readonly answers: readonly AnsweredRecord[];
}

/** Something that is waited for. */
interface Ask {
  /** Counted from 1 in the order of asking, which is the same in every replay. */
  readonly number: number;
  readonly state: string;
  readonly due: number;
  readonly begin: Begin;
  readonly settle: (answer: Answer) => void;
  /** Takes back what was begun. */
  end: () => void;
}

/** Sets off what will answer; what it returns takes that back. */
type Begin = (number: number, due: number, answer: (answer: Answer) => void) => () => void;

export function createOutside(parts: OutsideParts): Outside {
  const { execution, timers, journal, abort, before } = parts;
  const open = new Map<number, Ask>();
  const arrived: { ask: Ask; answer: Answer }[] = [];
  let time = parts.since;
  let asked = 0;
  let replayed = 0;
  // Until all answers of before have been given again, nothing is called and no timer runs.
  let live = before === undefined;
  let atRest = false;

  const settle = (ask: Ask, answer: Answer, at: number) => {
    time = at;
    ask.settle(answer);
    rest();
  };
  const rest = () => {
    atRest = false;
    setImmediate(() => {
      atRest = true;
      next();
    });
  };
  const next = () => {
    if (!atRest || abort.signal.aborted) return;
    const record = before?.answers[replayed];
    if (record !== undefined) replay(record);
    else if (!live) goLive();
    else answerNext();
  };
  const replay = ({ ask: number, state, at, answer }: AnsweredRecord) => {
    replayed += 1;
    const ask = open.get(number);
    if (ask?.state === state) return settle(ask, answer, at);
    const cause = `The execution cannot go on: its journal tells of an answer to '${state}' where it waits for none.`;
    abort.abort(new StatesError('States.Runtime', cause));
  };
  const goLive = () => {
    live = true;
    // In order of time where more than one fell due while nothing ran.
    for (const ask of [...open.values()].sort((a, b) => a.due - b.due)) start(ask);
  };
  const answerNext = () => {
    for (let one = arrived.shift(); one !== undefined; one = arrived.shift()) {
      if (!open.has(one.ask.number)) continue;
      const at = parts.now();
      const { number, state } = one.ask;
      journal?.answered({ execution, ask: number, state, at, answer: one.answer });
      return settle(one.ask, one.answer, at);
    }
  };

  const start = (ask: Ask) => {
    let answered = false;
    ask.end = ask.begin(ask.number, ask.due, (answer) => {
      if (answered) return;
      answered = true;
      arrived.push({ ask, answer });
      next();
    });
  };
  const wait = async (state: string, milliseconds: number, signal: AbortSignal, begin: Begin): Promise<Answer> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    asked += 1;
    const number = asked;
    const close = () => {
      open.delete(number);
      signal.removeEventListener('abort', withdraw);
    };
    const withdraw = () => {
      close();
      ask.end();
      reject(signal.reason);
    };
    const settled = (answer: Answer) => {
      close();
      resolve(answer);
    };
    const ask: Ask = { number, state, due: timers.due(time, milliseconds), begin, settle: settled, end: () => {} };
    signal.addEventListener('abort', withdraw, { once: true });
    open.set(number, ask);
    if (live) start(ask);
    return promise;
  };

  return {
    now: () => time,
    random: createRandom(parts.seed),
    begin: () =>
      new Promise((resolve) =>
        setImmediate(() => {
          resolve();
          rest();
        }),
      ),
    async sleep(state, milliseconds, signal) {
      await wait(state, milliseconds, signal, (_number, due, answer) => timers.at(due, () => answer({ result: null })));
    },
    call: (state, milliseconds, signal, make, waits = false) =>
      wait(state, milliseconds, signal, (number, due, answer) => {
        const attempt = new AbortController();
        const cancel = timers.at(due, () => {
          attempt.abort(new StatesError('States.Timeout'));
          answer(failed(attempt.signal.reason));
        });
        const lost = before?.called.has(number) === true;
        let begun = lost;
        const begins = () => {
          // Of a function no power cut may leave it open whether it began: one that may not be repeated would run twice.
          if (!begun) journal?.called({ execution, ask: number }, waits);
          begun = true;
        };
        if (!waits) begins();
        make({ signal: attempt.signal, lost, begins })
          .catch(failed)
          .then((made) => {
            cancel();
            answer(made);
          });
        return () => {
          cancel();
          attempt.abort(signal.reason);
        };
      }),
  };
}

function failed(thrown: unknown): Answer {
  const { error, cause_ } = asStatesError(thrown, 'States.TaskFailed');
  return { error, cause: cause_ };
}
