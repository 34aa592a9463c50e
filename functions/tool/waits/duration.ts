import { ToolError } from '../errors.ts';

/** A length of time: the sum of its members, each a number from 0 on. */
export interface Duration {
  /** @default 0 @example 3 */
  readonly days?: number;
  /** @default 0 @example 12 */
  readonly hours?: number;
  /** @default 0 @example 5 */
  readonly minutes?: number;
  /** @default 0 @example 30 */
  readonly seconds?: number;
}

/** A moment: a date, or milliseconds since the epoch. */
export interface Until {
  readonly until: Date | number;
}

const SECOND = 1_000;
const UNITS: Readonly<Record<string, number>> = {
  days: 86_400 * SECOND,
  hours: 3_600 * SECOND,
  minutes: 60 * SECOND,
  seconds: SECOND,
};

/** A duration in ms. Throws a ToolError that names the member that is wrong. @param label what comes before it in the message */
export function msOf(label: string, duration: Duration): number {
  const members = Object.entries(duration ?? {});
  if (members.length === 0) throw new ToolError(`${label}: give days, hours, minutes or seconds`);
  return members.reduce((sum, [unit, count]) => {
    const ms = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (ms === undefined) throw new ToolError(`${label} takes days, hours, minutes and seconds, and not '${unit}'`);
    if (typeof count !== 'number' || !(count >= 0)) {
      throw new ToolError(`${label}: ${unit} is a number from 0 on, and not ${String(count)}`);
    }
    return sum + count * ms;
  }, 0);
}

/** When a time that begins now ends, in whole ms since the epoch. Throws a ToolError. */
export function endOf(label: string, time: Duration | Until, now: number): number {
  if (typeof time !== 'object' || time === null || !('until' in time)) return Math.ceil(now + msOf(label, time));
  const until = Number(time.until);
  if (!Number.isFinite(until) || !(time.until instanceof Date || typeof time.until === 'number')) {
    throw new ToolError(`${label}: until is a Date, or milliseconds since the epoch`);
  }
  return Math.ceil(until);
}
