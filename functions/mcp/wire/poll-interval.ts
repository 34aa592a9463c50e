import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolEntry } from '../manifest.ts';

const SECOND = 1_000;
/** Longer tasks are polled less often: a frequent poll rarely finds a change. */
const LONG = 600 * SECOND;

/**
 * How long a client should wait before its next poll, in ms (C-11, E-08, docs/limits.md). The tool's fixed interval,
 * or an interval by its expected duration. Without that, or if the task takes longer, a share of the task's age.
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
