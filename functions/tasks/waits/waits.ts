import { limits } from '../limits.ts';
import { has, isNumber, isObject, isString, oneKindOf, parsed } from '../shape.ts';
import type { Wait } from '../tool-contract.ts';

/** What a round waits for besides its client, by name (docs/architecture/tasks.md, "Waits"). */
export type Waits = Readonly<Record<string, Wait>>;

/** The last date of JavaScript, in ms since the epoch: readers show it as text. */
const LAST_DATE = 8.64e15;
const isTime = (value: unknown): boolean => isNumber(value) && Math.abs(Number(value)) <= LAST_DATE;

const isWait = oneKindOf('kind', { time: has({ until: isTime }), more: has({}) });

/** The waits of a record's round. Undefined: it has none, or what its tool wrote has another form. */
export function waitsOf({ waits: text }: { readonly waits?: string | undefined }): Waits | undefined {
  const waits = text === undefined || Buffer.byteLength(text) > limits.waits.bytes ? undefined : parsed(text);
  return isWaits(waits) ? waits : undefined;
}

function isWaits(value: unknown): value is Waits {
  if (!isObject(value)) return false;
  const names = Object.keys(value);
  const fit = names.length > 0 && names.length <= limits.waits.ofRound;
  return fit && names.every((name) => isWaitName(name) && isWait(value[name]));
}

/** Names of waits, as of steps: 1 to 64 characters of any kind. */
const isWaitName = (name: unknown): boolean =>
  isString(name) && String(name) !== '' && [...String(name)].length <= limits.waits.name;

/** Whether the round of a record that waits has all it waits for. */
export function isOver(record: { readonly waits?: string | undefined }, now: number): boolean {
  const waits = waitsOf(record);
  return waits !== undefined && nextCheck(waits) <= now;
}

/** In whole ms since the epoch: when the last of these waits is over. DynamoDB refuses a number as small as 1e-300. */
export const nextCheck = (waits: Waits): number =>
  Math.ceil(Math.max(0, ...Object.values(waits).map((wait) => (wait.kind === 'time' ? wait.until : 0))));

/** What clients read while the task waits. Undefined: it goes on at once. */
export function waitMessage(record: { readonly waits?: string | undefined }): string | undefined {
  const until = nextCheck(waitsOf(record) ?? {});
  return until === 0 ? undefined : `Sleeping until ${new Date(until).toISOString().replace(/\.\d+/, '')}`;
}
