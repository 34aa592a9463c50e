import { OPEN, STATUSES, type Status } from '../../functions/tasks/record.ts';
import { UsageError } from './usage-error.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `10m`, `2h`, `1d` in ms. */
export function duration(option: string, text: string): number {
  const [, count = '', unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new UsageError(`${option} is a time such as 90s, 10m, 2h or 1d, not '${text}'`);
  return Number(count) * factor;
}

export function count(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`${option} is a whole number above 0, not '${text}'`);
  return Number(text);
}

/** `open`, `ended`, `all`, or names of statuses with commas between them. */
export function statuses(text: string): readonly Status[] {
  if (text === 'open') return OPEN;
  if (text === 'all') return STATUSES;
  if (text === 'ended') return STATUSES.filter((status) => !OPEN.some((open) => open === status));
  return text.split(',').map((name) => {
    const found = STATUSES.find((status) => status === name.trim());
    if (found !== undefined) return found;
    throw new UsageError(`--status is open, ended, all, or some of ${STATUSES.join(', ')}, not '${name}'`);
  });
}
