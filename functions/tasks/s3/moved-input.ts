import { createHash } from 'node:crypto';
import { traitsOf } from '../engines.ts';
import { answersByName } from '../input.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { storedSignals } from '../waits/signals.ts';

/** What a record holds of what its client sent and its tool asks. */
export type Input = Pick<TaskRecord, 'arguments' | 'asked' | 'inputResponses'>;

/** Whether the input makes a record larger than one read unit, beside what stays in the record. */
export function isLarge(record: Input & Pick<TaskRecord, 'waits' | 'caller'>): boolean {
  const { arguments: args = '', asked = '', inputResponses = {}, waits = '', caller = '' } = record;
  const answers = Object.entries(inputResponses).flat();
  return Buffer.byteLength([args, asked, waits, caller, ...answers].join('')) > limits.inlineInput;
}

/** A new record with its arguments, which stay past its end if they are small and its tool says so: see `keepArguments`. */
export const withKept = (record: TaskRecord, keeps: boolean | undefined, args: string): TaskRecord =>
  keeps && !isLarge({ arguments: args }) ? { ...record, kept: args } : record;

/** A whole record with a reference in place of its input, and the text that it refers to. */
export function moved(whole: TaskRecord): { readonly record: TaskRecord; readonly text: string } {
  const { arguments: args, asked, inputResponses, ...rest } = whole;
  const text = JSON.stringify({ arguments: args, asked, inputResponses });
  const inputRef = `${hashOf(text)}.${sizeOf(whole)}`;
  return { record: { ...rest, inputResponses: {}, inputRef }, text };
}

/** A record as it is stored, and the text that is stored in S3 before it, if there is one. */
export interface Apart {
  readonly record: TaskRecord;
  readonly text?: string;
  /** As `workflowKeeps`. */
  readonly keeps: boolean;
}

/** A new record that holds all its input, as it is stored. */
export function apart(whole: TaskRecord): Apart {
  const stored = isLarge(whole) ? moved(whole) : { record: whole };
  return { ...stored, keeps: workflowKeeps(stored.record) };
}

/** A new record that starts with its tool's run, as it is stored. */
export function withInput(made: TaskRecord, args: string): Apart {
  const whole = { ...made, arguments: args };
  // On an engine without a history, a round that starts again finds its arguments only in the record. On the others, the workflow
  // writes them when the round asks or waits. A client that cannot be asked then needs no object in S3.
  if (traitsOf(made).hasHistory && (made.accepts === undefined || !isLarge(whole))) {
    return { record: made, keeps: true };
  }
  return apart(whole);
}

/** Whether the workflow writes the arguments into this record when its round asks or waits. */
export const workflowKeeps = ({ inputRef, ...made }: TaskRecord): boolean =>
  traitsOf(made).hasHistory && inputRef === undefined;

/** Arguments, answers and signals of a record in bytes, with the escapes that the input of the next round adds. */
export function sizeOf({ inputRef, ...record }: TaskRecord): number {
  const input = [record.arguments ?? '', answersByName(record), ...storedSignals(record)];
  const here = Buffer.byteLength(JSON.stringify(input));
  return here + (inputRef === undefined ? 0 : refOf(inputRef).bytes);
}

/** `<SHA-256 in hex>.<bytes as of sizeOf>` */
export function refOf(inputRef: string): { readonly sha256: string; readonly bytes: number } {
  const [sha256 = '', bytes] = inputRef.split('.');
  return { sha256, bytes: Number(bytes) };
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
