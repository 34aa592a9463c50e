import { limits } from '../../tasks/limits.ts';
import { isObject } from '../../tasks/shape.ts';
import type { StoredWait, ToolEvent } from '../../tasks/tool-contract.ts';
import type { Clock } from '../clock.ts';
import { ToolError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { type Duration, endOf, type Until } from './duration.ts';
import type { Ending } from './round-end.ts';

/** The parts of a run that its waits need. */
export interface WaitingRun {
  readonly event: ToolEvent;
  readonly journal: Journal;
  readonly ending: Ending;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long this run may still work, in ms. Negative: its round has to end. */
  readonly spare: () => number;
}

type StoredOf<K> = Extract<StoredWait, { readonly kind: K }>;
export type Waits = ReturnType<typeof openWaits>;

/** Whether the round of a call can end with waits: a task, and a workflow that takes envelopes. */
export const canWait = ({ task }: ToolEvent): boolean => task?.envelope === 1;

/** The waits of one run: what the task waits for, by names. */
export function openWaits({ event, journal, ending, clock, signal, spare }: WaitingRun) {
  const names = new Set<string>();
  const { task } = event;
  const deadline = task?.taskDeadline ?? task?.deadline ?? Number.POSITIVE_INFINITY;

  /** The end of a wait that begins now. Throws a ToolError if it cannot end in time. */
  function endInTime(label: string, time: Duration | Until): number {
    const until = endOf(label, time, clock.now());
    if (!canWait(event)) {
      if (until - clock.now() <= limits.waits.inside) return until;
      throw new ToolError(
        `${label}: without a task it can wait for ${limits.waits.inside / 1_000} seconds: call the tool as a task`,
      );
    }
    if (until <= deadline) return until;
    const end = new Date(deadline).toISOString();
    throw new ToolError(`${label} ends after the deadline of its task, ${end}: give the tool a longer timeout`);
  }

  /** Stores a wait once for all runs of the task, and returns what is stored. A call without a task stores none. */
  async function stored<K extends StoredWait['kind']>(kind: K, label: string, name: string, make: () => StoredOf<K>) {
    if (names.has(name)) throw new Error(`${label} comes twice in one run: give each wait its own name`);
    names.add(name);
    try {
      if (!canWait(event)) return make();
      const found = await ending.decide(journal.once('wait', name, make));
      if (isObject(found) && found.kind === kind && Number.isFinite(found.until)) return found as StoredOf<K>;
      throw new Error(`${label} was another kind of wait in an earlier run: give each wait its own name`);
    } catch (error) {
      names.delete(name);
      throw error;
    }
  }

  /** Waits until a moment: in the run if it comes soon, in other rounds if not. */
  async function reach(name: string, until: number): Promise<void> {
    for (let rest = until - clock.now(); rest > 0; rest = until - clock.now()) {
      const inside = !canWait(event) || (rest <= limits.waits.inside && rest <= spare());
      if (!inside) await ending.end({ waits: { [name]: { kind: 'time', until } } });
      await clock.sleep(rest, signal);
    }
  }

  return {
    async sleep(name: string, time: Duration | Until): Promise<void> {
      const label = `Sleep '${name}'`;
      const { until } = await stored('time', label, name, () => ({ kind: 'time', until: endInTime(label, time) }));
      await reach(name, until);
    },
  };
}
