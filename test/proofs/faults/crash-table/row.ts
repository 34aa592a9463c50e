import { expect, type TestContext } from 'vitest';

/** How long something of a row of the crash table took to settle, in ms of the cloud's time; and how long it may take. */
export interface Settled {
  readonly row: number;
  readonly tookMs: number;
  readonly boundMs: number;
  /** Both times count from the task's deadline. @default from the failure */
  readonly sinceDeadline?: true;
}

declare module 'vitest' {
  interface TaskMeta {
    settled?: Settled[];
  }
}

/** The longest time that a client waits for an answer of API Gateway. */
export const ITS_ANSWER = 29_000;
/** The bound for "seconds" in the table. */
export const SECONDS = 15_000;
export const MINUTE = 60_000;

/** Says that a test has seen a row settle, and fails it if that took too long. The table is printed at the end. */
export function settles(task: TestContext['task'], settled: Settled): void {
  task.meta.settled = [...(task.meta.settled ?? []), settled];
  const { row, tookMs, boundMs, sinceDeadline } = settled;
  const from = sinceDeadline === true ? 'its deadline' : 'the failure';
  expect(tookMs, `row ${row}, in ms of the cloud's time since ${from}`).toBeLessThanOrEqual(boundMs);
}
