import { createHash } from 'node:crypto';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { beginning, parsed } from '../shape.ts';
import type { OutcomeKey, ResultKey } from './result-store.ts';

/**
 * What a record holds in place of a large result. `defineTool` returns it, or `withOutcomeApart` makes it. It holds the
 * size and the hash, and not the place: that follows from the task, so no tool can refer to the result of another task.
 */
export interface ResultRef {
  readonly resultRef: StoredResult;
  readonly isError?: true;
}

export interface StoredResult {
  readonly bytes: number;
  /** `outcomes`: the server stored it, where no tool can write. @default the tool stored it */
  readonly in?: 'outcomes';
  /** The beginning of an error, for readers that show only how the task ended (C-29). */
  readonly says?: string;
  /** Which attempt at the round stored it. @default 0 */
  readonly attempt?: number;
  /** Which try, where two runs of a round may be at the same attempt. @default none */
  readonly run?: string;
  /** Of the stored text, in hex. */
  readonly sha256: string;
}

/** A throttled run has some hundred attempts (lib/workflow/tool.asl.json). */
const MOST_ATTEMPTS = 9_999;
/** Characters and bytes of `says`, with its escapes. */
const SAYS = { most: 500, bytes: 1_000 };

/** The reference in the text of a record. Undefined when the text is the result itself. */
export function storedResult(result: string): StoredResult | undefined {
  const { inline, stored } = limits.result;
  // Stryker disable next-line StringLiteral: spares the parsing of most results, and decides nothing
  if (result.length > inline || !result.includes('"resultRef"')) return undefined;
  const { resultRef, isError: _, ...others } = fields(parsed(result));
  const { bytes, attempt = 0, run, sha256, in: where, says, ...unknown } = fields(resultRef);
  if (Object.keys({ ...others, ...unknown }).length > 0) return undefined;
  // The server stores a smaller one, too, if its record has a caller or keeps arguments.
  const least = where === 'outcomes' ? 1 : inline + 1;
  if (!isBetween(bytes, least, stored) || !isBetween(attempt, 0, MOST_ATTEMPTS)) return undefined;
  if (run !== undefined && !isRunName(run)) return undefined;
  if (where !== undefined && where !== 'outcomes') return undefined;
  if (says !== undefined && (typeof says !== 'string' || Buffer.byteLength(says) > SAYS.bytes)) return undefined;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
  return {
    bytes,
    attempt,
    sha256,
    ...(run !== undefined && { run }),
    ...(where && { in: where }),
    ...(says !== undefined && { says }),
  };
}

/** A reference to a text that is stored. `place`: which try stored it, or that the server did. */
export function referTo(
  text: string,
  isError: boolean,
  place: Pick<StoredResult, 'attempt' | 'run' | 'in'>,
): ResultRef {
  const says = isError ? beginningOf(text) : undefined;
  const resultRef = { ...measured(text), ...place, ...(says !== undefined && { says }) };
  return isError ? { resultRef, isError } : { resultRef };
}

/** Where the text of a record's reference lies. */
export function placeOf({ owner, taskId, round }: TaskRecord, stored: StoredResult): ResultKey | OutcomeKey {
  const { attempt = 0, run, sha256 } = stored;
  if (stored.in === 'outcomes') return { owner, taskId, outcome: sha256 };
  return { owner, taskId, round, attempt, ...(run !== undefined && { run }) };
}

/** How an error result begins: its first text, as `errorSummary` of the endpoint reads it in a whole result. */
function beginningOf(text: string): string | undefined {
  const first = firstText(text);
  return first === undefined ? undefined : beginning(first, SAYS.most, SAYS.bytes);
}

/** The first text that a client sees of a result (JSON text), if it sees one. */
export function firstText(text: string): string | undefined {
  const value: unknown = parsed(text);
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return value;
  const { content, structuredContent } = fields(value);
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const whole = structuredContent === undefined ? text : JSON.stringify(structuredContent);
  const first = content === undefined ? whole : blocks.map(fields).find(({ type }) => type === 'text')?.text;
  return typeof first === 'string' ? first : undefined;
}

/** The size and the hash of a text, for a reference. */
export function measured(text: string): Pick<StoredResult, 'bytes' | 'sha256'> {
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
}

/** Whether the reference was made for this text: every tool of the server can write to its place. */
export function isOf({ bytes, sha256 }: StoredResult, text: string): boolean {
  return Buffer.byteLength(text) === bytes && measured(text).sha256 === sha256;
}

/** For the model and the person: what is wrong, and what to do. */
export function resultTooLarge(bytes: number): string {
  const most = limits.result.stored;
  return (
    `The tool's result takes ${bytes} bytes as JSON, and a result may take ${most} at most. ` +
    'Ask for less of it (a page, a filter, a summary), or have the tool store it elsewhere and return a resource_link.'
  );
}

/** A UUID, as `lib/workflow/definition.ts` takes it. */
const isRunName = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value);

/** Copies the members of an object. Other values have none that matter here. */
const fields = (value: unknown): Record<string, unknown> => ({ ...Object(value) });

function isBetween(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}
