import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import type { InputRequest, Wait } from '../../tasks/tool-contract.ts';
import { type Awaited, withRoom } from './ended-round.ts';
import type { PassLog } from './passes.ts';
import { around, namesOf, stepOf, type Work, type WorkKind } from './work.ts';

/** Thrown to end a round. A run that catches every error must throw it again. */
export class RoundEnd extends Error {
  override readonly name = 'RoundEnd';

  constructor() {
    super('The round ends here, until what the tool waits for has come: let this error pass');
  }
}

/** Code that awaits a wait. */
interface Waiter {
  /** The wait, once it is over. Undefined before, and for work that is not a wait. */
  readonly over?: string;
  /** Where work that is done comes between the waits that earlier runs got past. */
  readonly place?: number;
  /** The work that it is in, innermost first. */
  readonly inside: readonly Work[];
  readonly go: () => void;
  readonly end: (error: unknown) => void;
}

/** How long work keeps a run from getting past a wait, in ms. */
const LONGEST_HOLD = 5_000;
/** How much work a pass names: its item takes up to 400 KB. */
const MOST_BESIDE = 1_000;

export type Ending = ReturnType<typeof openEnding>;

/**
 * What the run of one round waits for, until its round ends: when all that the run does has come to an open wait. So code that gets
 * past the first of several waits goes on. It gets past one at a time, in the order of `passes`, once the work beside has ended:
 * what came first in one run comes first in each, also in one that dies and is tried again. It does not wait for long work: that
 * then comes after the wait in later runs, too, which find it done.
 *
 * @param spare how long the run may still work, in ms. Then its round ends, whatever it does. Infinite: it cannot end with waits
 * @param passes undefined: a call without a task, which has one run
 * @param caller takes room in the record, too. @default none
 */
export function openEnding(spare: () => number, passes: PassLog | undefined, caller?: unknown) {
  const questions = new Map<string, InputRequest>();
  const waits = new Map<string, Wait>();
  const waiters = new Set<Waiter>();
  /** Lookups of what earlier runs have done: the code is about to go on. */
  const deciding = new Set<Promise<unknown>>();
  const works = new Set<Work>();
  const inWork = new AsyncLocalStorage<Work>();
  /** The waits that this run has got past. */
  const passed = new Set<string>();
  /** A pass that is being stored. */
  let noting: { readonly beside: ReadonlySet<string>; readonly done: Promise<void> } | undefined;
  /** The wait that work keeps the run from getting past, and whether it has done so for long. */
  let held: { readonly waiter: Waiter; isLong: boolean; readonly timer: NodeJS.Timeout | undefined } | undefined;
  let changed = Promise.withResolvers<void>();
  let driven = false;
  /** Whether the run may not work any longer. */
  let isLate = false;
  let begun = false;
  let more = false;
  let over = false;

  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };

  /** Until the wait is over, or the round ends. It counts for the work whose code awaits it, and for all work around that. */
  async function stop(waiter: Omit<Waiter, 'go' | 'end' | 'inside'>): Promise<void> {
    const { promise, resolve: go, reject: end } = Promise.withResolvers<void>();
    const inside = around(inWork.getStore());
    for (const work of inside) work.waits++;
    waiters.add({ ...waiter, inside, go, end });
    change();
    if (!driven) void drive();
    try {
      await promise;
    } finally {
      for (const work of inside) work.waits--;
    }
  }

  async function drive(): Promise<void> {
    driven = true;
    const late = timer(spare(), () => {
      isLate = true;
      change();
    });
    while (waiters.size > 0 && !over) {
      do {
        await Promise.allSettled(deciding);
        await turn();
      } while (deciding.size > 0);
      if (begun) end();
      const next = earliest();
      if (next !== undefined && !isHeld(next)) await letGo(next);
      else if (!begun && (isLate || questions.size > 0 || goingOn().length === 0)) {
        // In place of getting past waits out of order.
        more ||= next !== undefined && questions.size === 0;
        end();
      } else await changed.promise;
    }
    clearTimeout(late);
    clearTimeout(held?.timer);
    held = undefined;
    driven = false;
  }

  const placeOf = ({ over: wait, place }: Waiter): number =>
    place ?? (wait === undefined ? undefined : passes?.passOf(wait)?.place) ?? Number.MAX_VALUE;

  const goingOn = () => [...works].filter(({ waits: awaited }) => awaited === 0);

  function isHeld(waiter: Waiter): boolean {
    const { over: wait } = waiter;
    if (passes === undefined) return false;
    const holds = (beside: ReadonlySet<string> = new Set()) =>
      goingOn().some(({ name, sleeps }) => !sleeps && !beside.has(name ?? ''));
    // Work may still lead to a wait that earlier runs got past before, however long it takes. A wait inside a step counts only inside
    // that step: for other code the step as a whole has its place.
    const scope = namesOf(waiter.inside);
    const before = passes
      .all()
      .filter(
        ({ place, wait, inside }) =>
          place < placeOf(waiter) && !passed.has(wait) && inside.every((name) => scope.includes(name)),
      );
    if (before.some(({ beside }) => holds(beside))) return true;
    if (isLate || wait === undefined || !holds(passes.passOf(wait)?.beside)) return false;
    if (held?.waiter !== waiter) {
      clearTimeout(held?.timer);
      const now = {
        waiter,
        isLong: false,
        timer: timer(LONGEST_HOLD, () => {
          now.isLong = true;
          change();
        }),
      };
      held = now;
    }
    return !held.isLong;
  }

  async function letGo(waiter: Waiter): Promise<void> {
    try {
      // Another run of this round may have got past another wait first: this one then does so, too, if it can.
      if (!(await isNext(waiter)) || !waiters.delete(waiter)) return;
      if (waiter.over !== undefined) passed.add(waiter.over);
      waiter.go();
    } catch (error) {
      if (waiters.delete(waiter)) waiter.end(error);
    }
  }

  async function isNext({ over: wait, inside }: Waiter): Promise<boolean> {
    // Waits that come one after the other need no order: the code has it.
    const isAlone = waiters.size === 1 && works.size === 0;
    if (wait === undefined || passes === undefined || isAlone || passes.passOf(wait) !== undefined) return true;
    const others = [...works].filter((work) => !inside.includes(work));
    const beside = namesOf(others).slice(0, MOST_BESIDE);
    const { promise, resolve } = Promise.withResolvers<void>();
    noting = { beside: new Set(beside), done: promise };
    try {
      return (await passes.note({ wait, beside, inside: namesOf(inside) })) === wait;
    } finally {
      noting = undefined;
      resolve();
    }
  }

  /** What is over or done, and comes first. */
  function earliest(): Waiter | undefined {
    return [...waiters]
      .filter(({ over: wait, place }) => wait !== undefined || place !== undefined)
      .toSorted((a, b) => placeOf(a) - placeOf(b))[0];
  }

  /** Whether this is a step that is under way: it goes on as the round ends, as it would have to do its work again. */
  const goesOn = (step: Work | undefined): boolean => step !== undefined && works.has(step) && !step.isEnded;

  /** A wait that is over, or work that is done, in a step that goes on: it is let go in its order. */
  const isLetGo = ({ inside, over: wait, place }: Waiter): boolean =>
    (wait !== undefined || place !== undefined) && goesOn(stepOf(inside));

  function end(): void {
    if (over) return;
    begun = true;
    const ended = () => [...waiters].filter((waiter) => !isLetGo(waiter));
    // A step whose code has come to an open wait does not go on: nor does the rest of that code.
    for (const { inside } of ended()) for (const work of inside) work.isEnded = true;
    for (const waiter of ended()) {
      waiters.delete(waiter);
      waiter.end(new RoundEnd());
    }
  }

  return {
    /** Whether the round ends: whatever the run does after that belongs to the next one, but for steps that are under way. */
    begun: () => begun,
    /** Whether the code that asks has come to its end: of the run, or of the round. */
    stops: (): boolean => over || (begun && !goesOn(stepOf(around(inWork.getStore())))),
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
    /** The step that the code which asks works for: the innermost of several. */
    step: (): string | undefined => stepOf(around(inWork.getStore()))?.name,
    /** Lets the end of the round wait for work, unless that comes to an open wait itself. */
    async work<T>(work: () => Promise<T>, kind: WorkKind = {}): Promise<T> {
      const one: Work = { ...kind, outer: inWork.getStore(), waits: 0, isEnded: false };
      works.add(one);
      try {
        return await inWork.run(one, work);
      } finally {
        works.delete(one);
        change();
      }
    },
    /** Lets work that is done come after each wait that a run got past while it went on. */
    async inOrder(name: string): Promise<void> {
      if (noting?.beside.has(name)) {
        await noting.done;
        await turn();
      }
      const open = passes?.all().filter(({ wait }) => !passed.has(wait)) ?? [];
      const inner = open.filter(({ inside }) => inside.includes(name));
      const places = [
        ...open.filter(({ beside }) => beside.has(name)).map(({ place }) => place + 0.5),
        // Work comes before what was beside a wait inside it.
        ...inner.map(({ place }) => place + 0.25),
      ];
      if (places.length > 0) await stop({ place: Math.max(...places) });
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
     * the code has not awaited. Returns whether it ends. A run that has failed stops all at once, as the round is tried again.
     */
    close(hasFailed = false): boolean {
      if (!begun && questions.size > 0) end();
      over = !begun || hasFailed;
      change();
      return begun;
    },
    /** What the round ends with. A wait that it has no room for is of a later one: the last one to end. */
    awaited(): Awaited {
      if (more) return { waits: { more: { kind: 'more' } } };
      return {
        ...(questions.size > 0 && { questions: Object.fromEntries(questions) }),
        ...(waits.size > 0 && { waits: withRoom(waits, caller) }),
      };
    },
  };
}

/** Calls `act` after a finite time, unless the process ends before. */
function timer(ms: number, act: () => void): NodeJS.Timeout | undefined {
  return Number.isFinite(ms) ? setTimeout(act, Math.min(Math.max(0, ms), 2 ** 31 - 1)).unref() : undefined;
}
