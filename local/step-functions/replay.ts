import { asStatesError, StatesError } from './errors.ts';
import type { Answer, AnsweredRecord, Journal } from './journal/records.ts';
import { createRandom, type Random } from './random.ts';
import type { Timers } from './timers.ts';
import { awaitToken } from './tokens/await-token.ts';
import type { Tokens } from './tokens/tokens.ts';

/** The answer to a lost call that makes it again: the engine evaluates its Arguments again and sends them. */
export const AGAIN = Symbol('again');

export interface Attempt {
  /** Aborts on the timeout of the call, and when the execution no longer waits for it. */
  readonly signal: AbortSignal;
  /** Whether it began before the process died, with an unknown outcome. */
  readonly lost: boolean;
  /**
   * Records in the journal that the call begins; idempotent. The call begins once the returned promise resolves. If this
   * throws, the call must not begin.
   */
  readonly begins: () => Promise<void> | undefined;
}

/**
 * Deterministic replay. The only source of time, randomness and results for a running execution.
 * An execution whose process died runs again from its start, gets the same answers in the same order, takes the same
 * decisions and reaches the same state. This rests on four rules:
 *   - an answer is in the journal before the execution sees it;
 *   - an answer is delivered only when all work after the previous one has finished. That work is only microtasks, so
 *     one turn of the event loop is enough;
 *   - between two answers the clock stands still, at the time of the earlier one;
 *   - random numbers follow from a seed.
 */
export interface Replay {
  /** Epoch milliseconds of the last answer, or of the start. */
  now(): number;
  readonly random: Random;
  /** Resolves in the next turn of the event loop: StartExecution answers before the first state runs, as on AWS. */
  begin(): Promise<void>;
  /** Waits this time, in milliseconds of workflow time. Rejects with the signal's reason if that aborts first. */
  sleep(state: string, milliseconds: number, signal: AbortSignal): Promise<void>;
  /**
   * Makes a call and waits for its answer, which is States.Timeout after `milliseconds`. Rejects like `sleep`. With
   * `waits` the call begins when it says so, not at once.
   */
  call(
    state: string,
    milliseconds: number,
    signal: AbortSignal,
    make: (attempt: Attempt) => Promise<Answer>,
    waits?: boolean,
  ): Promise<Answer>;
  /**
   * Waits for the answer that a client gives for a token: States.Timeout after `milliseconds`, States.HeartbeatTimeout if
   * no heartbeat comes for `heartbeat` milliseconds. Rejects like `sleep`.
   */
  callback(state: string, token: string, times: TokenTimes, signal: AbortSignal): Promise<Answer>;
  /** Resolves once all recorded answers have been replayed, or it has ended. */
  readonly caughtUp: Promise<void>;
}

export interface TokenTimes {
  readonly milliseconds: number;
  readonly heartbeat: number;
}

export interface ReplayContext {
  readonly execution: number;
  readonly seed: string;
  /** Epoch milliseconds of the start. */
  readonly since: number;
  readonly timers: Timers;
  readonly now: () => number;
  readonly journal: Journal | undefined;
  readonly tokens: Pick<Tokens, 'open'>;
  /** Ends the execution: no answers follow its abort. The replay aborts if the journal does not match the execution. */
  readonly abort: AbortController;
  /** The journal of an execution that continues. */
  readonly past?: PastCalls | undefined;
}

export interface PastCalls {
  /** Numbers of the calls that began. */
  readonly called: ReadonlySet<number>;
  readonly answers: readonly AnsweredRecord[];
}

/** A call or a wait without an answer yet. */
interface Ask {
  /** Counted from 1 in the order of the calls and waits, which is the same in every replay. */
  readonly number: number;
  readonly state: string;
  readonly due: number;
  readonly begin: Begin;
  readonly settle: (answer: Answer) => void;
  /** Cancels what `begin` started. */
  end: () => void;
}

/** Starts what will answer. Returns a function that cancels it. */
type Begin = (number: number, due: number, answer: (answer: Answer) => void) => () => void;

export function createReplay(context: ReplayContext): Replay {
  const { execution, timers, journal, abort, past } = context;
  const open = new Map<number, Ask>();
  const arrived: { ask: Ask; answer: Answer }[] = [];
  let time = context.since;
  let asked = 0;
  let replayed = 0;
  // Until all recorded answers have been replayed, no call is made and no timer runs.
  let live = past === undefined;
  const caughtUp = Promise.withResolvers<void>();
  if (live) caughtUp.resolve();
  abort.signal.addEventListener('abort', () => caughtUp.resolve(), { once: true });
  let idle = false;

  const settle = (ask: Ask, answer: Answer, at: number) => {
    time = at;
    ask.settle(answer);
    deliverNextTurn();
  };
  const deliverNextTurn = () => {
    idle = false;
    setImmediate(() => {
      idle = true;
      next();
    });
  };
  const next = () => {
    if (!idle || abort.signal.aborted) return;
    const record = past?.answers[replayed];
    if (record !== undefined) replayAnswer(record);
    else if (!live) goLive();
    else answerNext();
  };
  const replayAnswer = ({ ask: number, state, at, answer }: AnsweredRecord) => {
    replayed += 1;
    const ask = open.get(number);
    if (ask?.state === state) return settle(ask, answer, at);
    const cause = `The execution cannot continue: its journal has an answer to '${state}', for which it does not wait.`;
    abort.abort(new StatesError('States.Runtime', cause));
  };
  const goLive = () => {
    live = true;
    // Several may have become due while no process ran: they start in order of time.
    for (const ask of [...open.values()].sort((a, b) => a.due - b.due)) start(ask);
    caughtUp.resolve();
  };
  const answerNext = () => {
    for (let one = arrived.shift(); one !== undefined; one = arrived.shift()) {
      if (!open.has(one.ask.number)) continue;
      const at = context.now();
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
    random: createRandom(context.seed),
    begin: () =>
      new Promise((resolve) =>
        setImmediate(() => {
          resolve();
          deliverNextTurn();
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
        const lost = past?.called.has(number) === true;
        let begun = lost;
        const begins = () => {
          // A power cut must not lose the start of a function: a function that must not be repeated would run twice.
          const kept = begun ? undefined : journal?.called({ execution, ask: number }, waits);
          begun = true;
          return kept;
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
    async callback(state, token, { milliseconds, heartbeat }, signal) {
      const kept = Promise.withResolvers<void>();
      kept.promise.catch(() => undefined);
      try {
        const given = await wait(state, milliseconds, signal, (_number, due, answer) =>
          awaitToken(token, { due, heartbeat, kept: kept.promise }, answer, context),
        );
        kept.resolve();
        return given;
      } catch (reason) {
        kept.reject(reason);
        throw reason;
      }
    },
    caughtUp: caughtUp.promise,
  };
}

function failed(thrown: unknown): Answer {
  const { error, detail } = asStatesError(thrown, 'States.TaskFailed');
  return { error, cause: detail };
}
