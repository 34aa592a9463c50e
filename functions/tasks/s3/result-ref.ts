import { createHash } from 'node:crypto';
import { limits } from '../limits.ts';
import { parsed } from '../shape.ts';

/**
 * What a wrapped tool returns in place of a result that is too large for its workflow. It says how large and which text,
 * and not where: that follows from the task alone, so that no tool can point at the result of another task.
 */
export interface ResultRef {
  readonly resultRef: StoredResult;
  readonly isError?: true;
}

export interface StoredResult {
  readonly bytes: number;
  /** Which try of the round stored it; the first where this is left out. */
  readonly attempt?: number;
  /** Of the stored text, in hex. Left out in references of the releases before: those are believed by their length. */
  readonly sha256?: string;
}

/** A throttled run is tried some hundred times (lib/workflow/tool.asl.json). */
const MOST_ATTEMPTS = 9_999;
/** Longer than any reference: what a tool returned is not parsed just to see that it is none. */
const LONGEST = 200;

/** What lies in S3 for the result of this record's text; undefined when the text is the result itself. */
export function storedResult(result: string): StoredResult | undefined {
  if (result.length > LONGEST || !result.includes('"resultRef"')) return undefined;
  const { resultRef, isError: _, ...others } = fields(parsed(result));
  const { bytes, attempt = 0, sha256, ...unknown } = fields(resultRef);
  if (Object.keys({ ...others, ...unknown }).length > 0) return undefined;
  const { inline, stored } = limits.result;
  if (!isBetween(bytes, inline + 1, stored) || !isBetween(attempt, 0, MOST_ATTEMPTS)) return undefined;
  if (sha256 === undefined) return { bytes, attempt };
  return typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? { bytes, attempt, sha256 } : undefined;
}

/** What a reference says of this text. */
export function measured(text: string): Required<Pick<StoredResult, 'bytes' | 'sha256'>> {
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
}

/** Whether this is the text that the reference was made for: every tool of the server may write where it lies. */
export function isOf({ bytes, sha256 }: StoredResult, text: string): boolean {
  return Buffer.byteLength(text) === bytes && (sha256 === undefined || measured(text).sha256 === sha256);
}

/** For the model and the person: why, and what to do. */
export function resultTooLarge(bytes: number): string {
  const most = limits.result.stored;
  return (
    `The tool's result takes ${bytes} bytes as JSON, and a result may take ${most} at most. ` +
    'Ask for less of it (a page, a filter, a summary), or have the tool store it elsewhere and return a resource_link.'
  );
}

/** Of what is no object, none that counts. */
const fields = (value: unknown): Record<string, unknown> => ({ ...Object(value) });

function isBetween(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}
