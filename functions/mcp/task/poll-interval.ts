import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolEntry } from '../manifest.ts';

const SECOND = 1_000;
/** Ten minutes and more: what a poll sooner finds is rarely worth it. */
const LONG = 600 * SECOND;

/**
 * How long a client should wait before it asks again, in ms (C-11, E-08, docs/limits.md): what the tool says; else by
 * the duration it is expected to take; else, and for what takes longer than expected, a share of the task's age.
 */
export function pollInterval(record: TaskRecord, tool: ToolEntry | undefined, now: number): number {
  if (tool?.pollInterval !== undefined) return tool.pollInterval;
  const age = now - record.createdAt;
  const expected = tool?.expectedDuration;
  const least = expected === undefined ? limits.pollInterval.min : forExpected(expected);
  if (expected !== undefined && expected <= LONG && age <= expected) return least;
  const adaptive = Math.round(age * limits.pollInterval.shareOfAge);
  return Math.min(Math.max(adaptive, least), limits.pollInterval.max);
}

function forExpected(duration: number): number {
  if (duration < 10 * SECOND) return 1 * SECOND;
  if (duration < 60 * SECOND) return 3 * SECOND;
  return duration <= LONG ? 5 * SECOND : 10 * SECOND;
}
