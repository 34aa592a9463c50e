import { limits } from '../limits.ts';
import { has, isNumber, isObject, oneKindOf, parsed } from '../shape.ts';
import type { Wait } from '../tool-contract.ts';

/** What a round waits for besides its client, by name (docs/architecture/tasks.md, "Waits"). */
export type Waits = Readonly<Record<string, Wait>>;

/** `signalled` of a record has this in place of a name that it does not need, or has no room for. */
export const UNNAMED = '';
/** `early` of a record that has no room for all names: its round is over at once, and the next one gets all signals. */
export const UNNAMED_EARLY = 0;

/** What of a record says which of its waits are over. */
interface Waiting {
  readonly waits?: string | undefined;
  readonly signalled?: readonly string[] | undefined;
  readonly early?: number | undefined;
}

/** The last date of JavaScript, in ms since the epoch: readers show it as text. */
const LAST_DATE = 8.64e15;
const isTime = (value: unknown): boolean => isNumber(value) && Math.abs(Number(value)) <= LAST_DATE;
const bounded = has({ until: isTime });

const isWait = oneKindOf('kind', { time: bounded, link: bounded, webhook: bounded, more: has({}) });

/** The waits of a record's round. Undefined: it has none, or what its tool wrote has another form. */
export function waitsOf({ waits: text }: Waiting): Waits | undefined {
  const waits = text === undefined || Buffer.byteLength(text) > limits.waits.bytes ? undefined : parsed(text);
  return isWaits(waits) ? waits : undefined;
}

function isWaits(value: unknown): value is Waits {
  if (!isObject(value)) return false;
  const names = Object.keys(value);
  const fit = names.length > 0 && names.length <= limits.waits.ofRound;
  return fit && names.every((name) => isWaitName(name) && isWait(value[name]));
}

/** Names of waits, as of steps: 1 to 64 characters of any kind. A table cannot hold half a character. */
const isWaitName = (name: string): boolean =>
  name !== '' && name.isWellFormed() && [...name].length <= limits.waits.name;

/** Bytes of one wait as JSON, with a name of 64 control characters. */
const LARGEST = 450;

/** Whether a round may wait for more than its record had room for. */
export function isFull({ waits = '', caller = '' }: Waiting & { readonly caller?: string | undefined }): boolean {
  const { ofRound, bytes } = limits.waits;
  const isMost = Object.keys(waitsOf({ waits }) ?? {}).length === ofRound;
  return isMost || Buffer.byteLength(waits + caller) + LARGEST > bytes;
}

/** Whether the next round of a record that waits may begin: one of its waits is over, or has its signal. */
export function isOver(record: Waiting, now: number): boolean {
  const waits = waitsOf(record);
  return waits !== undefined && nextCheck(record) <= now;
}

/**
 * In whole ms since the epoch: when the first wait of a record is over, if no more signals come. DynamoDB refuses a number as
 * small as 1e-300.
 */
export function nextCheck({ signalled, early, ...record }: Waiting): number {
  return early === UNNAMED_EARLY ? 0 : firstEnd(waitsOf(record) ?? {}, signalled);
}

/** @param signalled names of waits that have their signal */
function firstEnd(waits: Waits, signalled: readonly string[] = []): number {
  const ends = Object.entries(waits).map(([name, wait]) =>
    wait.kind === 'more' || signalled.includes(name) ? 0 : wait.until,
  );
  return Math.ceil(Math.max(0, Math.min(...ends)));
}

/**
 * The names of the links and webhooks that a record waits for. None if it does not know them: then the next round begins.
 *
 * @param by only those whose time is over then, in ms since the epoch. @default all
 */
export function awaited({ signalled = [], early, ...record }: Waiting, by = Number.POSITIVE_INFINITY): string[] {
  if (early === UNNAMED_EARLY) return [];
  return Object.entries(waitsOf(record) ?? {})
    .filter(
      ([name, wait]) =>
        (wait.kind === 'link' || wait.kind === 'webhook') && wait.until <= by && !signalled.includes(name),
    )
    .map(([name]) => name);
}

/** Names that a message shows. */
const SHOWN = 3;

/** What clients read while the task waits. Undefined: it goes on at once. */
export function waitMessage(record: Waiting): string | undefined {
  const waits = waitsOf(record) ?? {};
  const next = nextCheck(record);
  if (next === 0) return undefined;
  const names = awaited(record);
  const until =
    names.length === 0 ? next : firstEnd(Object.fromEntries(names.map((name) => [name, waits[name] as Wait])));
  const others = names.length - SHOWN;
  const named = [...names.slice(0, SHOWN), ...(others > 0 ? [`${others} more`] : [])].join(', ');
  const what = names.length === 0 ? 'Sleeping' : `Waiting for ${named}`;
  return `${what} until ${new Date(until).toISOString().replace(/\.\d+/, '')}`;
}
