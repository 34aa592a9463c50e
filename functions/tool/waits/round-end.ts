import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '../../tasks/limits.ts';
import type { InputRequest, InputRequired, Wait } from '../../tasks/tool-contract.ts';

type ByName<T> = Readonly<Record<string, T>>;

/** Thrown to end a round. A run that catches every error must throw it again. */
export class RoundEnd extends Error {
  override readonly name = 'RoundEnd';

  constructor() {
    super('The round ends here, until what the tool waits for has come: let this error pass');
  }
}

/** What a run returns whose round ends without a result: a class, as a result may have members of any name. */
export class EndedRound {
  readonly asked: Partial<InputRequired>;
  /** @default none */
  readonly waits: ByName<Wait> | undefined;

  /** @param requestState what the next round gets */
  constructor({ questions, waits }: Awaited, requestState: unknown) {
    this.asked = { ...(questions && { inputRequests: questions }), requestState };
    this.waits = waits;
  }
}

interface Awaited {
  readonly questions?: ByName<InputRequest>;
  readonly waits?: ByName<Wait>;
}

/** Work that goes on while other code of the run waits. */
interface Work {
  readonly outer: Work | undefined;
  /** How many waits its own code awaits. */
  waits: number;
}

/** Code that awaits a wait. */
interface Waiter {
  /** Undefined: the wait is open. */
  readonly over?: string;
  readonly go: () => void;
  readonly end: (error: unknown) => void;
}

/** The order in which the runs of a task get past its waits, where several wait at the same time. */
export interface PassLog {
  /** Undefined: no run has got past this wait beside others. */
  placeOf(name: string): number | undefined;
  /** Stores that the runs get past this wait next, and returns it, or the one that another run has stored. */
  note(name: string): Promise<unknown>;
}

const inWork = new AsyncLocalStorage<Work>();

export type Ending = ReturnType<typeof openEnding>;

/**
 * What the run of one round waits for, until its round ends: when all that the run does has come to an open wait. So code that gets
 * past the first of several waits goes on. It gets past one at a time, in the order of `passes`: what came first in one run comes
 * first in each, also in one that dies and is tried again.
 *
 * @param spare how long the run may still work, in ms. Then its round ends, whatever it does
 * @param caller takes room in the record, too. @default none
 */
export function openEnding(spare: () => number, passes: PassLog, caller?: unknown) {
  const questions = new Map<string, InputRequest>();
  const waits = new Map<string, Wait>();
  const waiters = new Set<Waiter>();
  /** Lookups of what earlier runs have done: the code is about to go on. */
  const deciding = new Set<Promise<unknown>>();
  const works = new Set<Work>();
  let changed = Promise.withResolvers<void>();
  let driven = false;
  let begun = false;
  let more = false;
  let over = false;

  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };

  /** Counts a wait for the work whose code awaits it, and for all work around that. */
  function count(by: 1 | -1): void {
    for (let work = inWork.getStore(); work !== undefined; work = work.outer) work.waits += by;
  }

  /** Until the wait is over, or the round ends. */
  async function stop(waiter: Omit<Waiter, 'go' | 'end'>): Promise<void> {
    const { promise, resolve: go, reject: end } = Promise.withResolvers<void>();
    count(1);
    waiters.add({ ...waiter, go, end });
    change();
    if (!driven) void drive();
    try {
      await promise;
    } finally {
      count(-1);
    }
  }

  async function drive(): Promise<void> {
    driven = true;
    let isLate = false;
    const late = timer(spare(), () => {
      isLate = true;
      change();
    });
    while (waiters.size > 0 && !over) {
      do {
        await Promise.allSettled(deciding);
        await turn();
      } while (deciding.size > 0);
      const next = earliest();
      const isBusy = !isLate && [...works].some((work) => work.waits === 0);
      if (!begun && next !== undefined) await letGo(next.over, next);
      else if (begun || questions.size > 0 || !isBusy) end();
      else await changed.promise;
    }
    clearTimeout(late);
    driven = false;
  }

  async function letGo(name: string, waiter: Waiter): Promise<void> {
    // Waits that come one after the other need no order: the code has it.
    const hasOrder = (waiters.size === 1 && works.size === 0) || passes.placeOf(name) !== undefined;
    try {
      // Another run of this round may have got past another wait first: this one then does so, too, if it can.
      const isNext = hasOrder || (await passes.note(name)) === name;
      if (isNext && waiters.delete(waiter)) waiter.go();
    } catch (error) {
      if (waiters.delete(waiter)) waiter.end(error);
    }
  }

  /** The wait that is over, and that earlier runs got past first. */
  function earliest(): (Waiter & { readonly over: string }) | undefined {
    const place = ({ over: name }: Waiter) =>
      (name === undefined ? undefined : passes.placeOf(name)) ?? Number.MAX_VALUE;
    return [...waiters]
      .filter((waiter): waiter is Waiter & { readonly over: string } => waiter.over !== undefined)
      .toSorted((a, b) => place(a) - place(b))[0];
  }

  function end(): void {
    if (over) return;
    begun = true;
    for (const waiter of waiters) waiter.end(new RoundEnd());
    waiters.clear();
  }

  return {
    /** Whether the round ends: whatever the run does after that belongs to the next one. */
    begun: () => begun,
    /** Whether the run has come to its end without one of the round. */
    over: () => over,
    /** Whether it ends as the time of the function is used up. */
    more: () => more,
    /** Lets all waits wait for a lookup of what earlier runs have done. */
    async decide<T>(decision: Promise<T>): Promise<T> {
      deciding.add(decision);
      try {
        return await decision;
      } finally {
        deciding.delete(decision);
      }
    },
    /** Lets the end of the round wait for work, unless that comes to an open wait itself. */
    async work<T>(work: () => Promise<T>): Promise<T> {
      const one: Work = { outer: inWork.getStore(), waits: 0 };
      works.add(one);
      try {
        return await inWork.run(one, work);
      } finally {
        works.delete(one);
        change();
      }
    },
    /** Gets past a wait that is over, after all that earlier runs got past before. */
    pass: (name: string): Promise<void> => stop({ over: name }),
    /** Ends the round with this, and with all that the code begins to wait for at the same time. A question ends it at once. */
    async end(with_: Awaited): Promise<never> {
      for (const [name, question] of Object.entries(with_.questions ?? {})) questions.set(name, question);
      for (const [name, wait] of Object.entries(with_.waits ?? {})) waits.set(name, wait);
      await stop({});
      throw new RoundEnd();
    },
    /** Ends the round at once: the next one goes on with the work, and then waits for the rest. */
    endWithMore(): never {
      more = true;
      end();
      throw new RoundEnd();
    },
    /**
     * The run has come to its end. Code that still waits does so for ever, unless the round ends, as it does with a question that
     * the code has not awaited. Returns whether it ends.
     */
    close(): boolean {
      if (!begun && questions.size > 0) end();
      over = !begun;
      change();
      return begun;
    },
    /** What the round ends with. A wait that it has no room for is of a later one: the last one to end. */
    awaited(): Awaited {
      if (more) return { waits: { more: { kind: 'more' } } };
      const first = [...waits].toSorted(([, a], [, b]) => endOf(a) - endOf(b));
      return {
        ...(questions.size > 0 && { questions: Object.fromEntries(questions) }),
        ...(waits.size > 0 && { waits: Object.fromEntries(withRoom(first, caller)) }),
      };
    },
  };
}

/** Calls `act` after a finite time, unless the process ends before. */
function timer(ms: number, act: () => void): NodeJS.Timeout | undefined {
  return Number.isFinite(ms) ? setTimeout(act, Math.min(Math.max(0, ms), 2 ** 31 - 1)).unref() : undefined;
}

const endOf = (wait: Wait): number => ('until' in wait ? wait.until : 0);

type Named = readonly [name: string, wait: Wait];
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The first of them, as many as the record of the task has room for beside its caller. */
function withRoom(waits: readonly Named[], caller: unknown = ''): readonly Named[] {
  const { ofRound, bytes } = limits.waits;
  let rest = bytes - sizeOf(caller);
  const fits = (wait: Named): boolean => {
    rest -= sizeOf(Object.fromEntries([wait]));
    return rest >= 0;
  };
  const over = waits.findIndex((wait, n) => n === ofRound || !fits(wait));
  return over === -1 ? waits : waits.slice(0, over);
}
