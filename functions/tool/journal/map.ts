import { limits } from '../../tasks/limits.ts';
import { StepInterrupted, ToolError } from '../errors.ts';
import type { Journal } from './journal.ts';
import type { StepOptions } from './step.ts';

/** @typeParam T an item @typeParam R the result of its step */
export interface MapOptions<T = unknown, R = unknown> extends StepOptions {
  /** How many items are worked on at the same time. @default 10 @example 20 */
  readonly concurrency?: number;
  /**
   * Makes the result of an item that a run before this one has begun, and not finished, with `atMostOnce`. It is not stored.
   * @default the map throws StepInterrupted
   * @example (order) => ({ order, paid: 'unknown' })
   */
  readonly interrupted?: (item: T, index: number) => R;
}

const { entries: MOST, name: LONGEST } = limits.journal;
/** The longest name of a map: its steps add ` 10000/10000`. */
const LONGEST_NAME = LONGEST - ` ${MOST}/${MOST}`.length;

/** Does a step for each item. The results are in the order of the items. */
export async function mapSteps<T, R>(
  step: (name: string, work: () => R | Promise<R>, options: StepOptions) => Promise<R>,
  journal: Journal,
  name: string,
  items: readonly T[],
  work: (item: T, index: number) => R | Promise<R>,
  { concurrency = 10, interrupted, ...options }: MapOptions<T, R>,
): Promise<R[]> {
  const label = `Map '${String(name).slice(0, LONGEST)}'`;
  const all = [...items];
  if (typeof name !== 'string' || name === '' || [...name].length > LONGEST_NAME) {
    throw new ToolError(`${label}: a name has 1 to ${LONGEST_NAME} characters`);
  }
  if (all.length > MOST) throw new ToolError(`${label} has ${all.length} items: a task may have ${MOST} steps`);
  if (!(concurrency >= 1)) throw new Error(`${label}: concurrency is a number from 1 on, and not ${concurrency}`);
  await journal.read();
  const other = otherLength(journal.steps(), name, all.length);
  if (other !== undefined) {
    throw new Error(
      `${label} has ${all.length} items, and had ${other} in an earlier run: give it the same list in each`,
    );
  }
  const results: R[] = Array(all.length);
  const errors: unknown[] = [];
  const entries = all.entries();
  // The lanes share one iterator.
  const lane = async () => {
    for (const [index, item] of entries) {
      if (errors.length > 0) return;
      try {
        results[index] = await step(`${name} ${index + 1}/${all.length}`, () => work(item, index), options);
      } catch (error) {
        try {
          if (!(error instanceof StepInterrupted && interrupted)) throw error;
          results[index] = interrupted(item, index);
        } catch (thrown) {
          errors.push(thrown);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, all.length) }, lane));
  if (errors.length > 0) throw errors[0];
  return results;
}

/** The length that the list of this map had in an earlier run, if it is another one: the names of its steps say it. */
function otherLength(steps: Iterable<string>, name: string, length: number): number | undefined {
  for (const step of steps) {
    const found = step.startsWith(`${name} `) ? /^\d+\/(\d+)$/.exec(step.slice(name.length + 1))?.[1] : undefined;
    if (found !== undefined && Number(found) !== length) return Number(found);
  }
  return undefined;
}
