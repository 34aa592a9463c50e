import type { InputResponse } from '../tasks/tool-contract.ts';
import { ToolError } from './errors.ts';

/** The memory of a tool between rounds and retries. */
export interface Memory {
  readonly variables: Record<string, unknown>;
  /** The results of its finished steps. */
  readonly steps: Record<string, unknown>;
  /** Why the result of a finished step could not be kept, in the words of `kept`. The step does not run again. */
  readonly misfits: Record<string, string>;
  /** The answers to earlier questions in a call without a task, which brings only answers to the last questions. */
  readonly answers: Record<string, InputResponse>;
}

/** Bounds of one task's memory (docs/writing-tools.md, "Limits"). */
const bounds = { bytes: 100_000, depth: 10, string: 64_000 } as const;

/** The reason why a value does not fit beside the others. No other reason is longer. */
export const NO_ROOM = `does not fit: the variables and steps of a task may take ${bounds.bytes} bytes together`;

/** Opens the memory of the last round or attempt, or an empty one. */
export function openMemory(saved: unknown): Memory {
  const found = (typeof saved === 'object' && saved !== null ? saved : {}) as Partial<Memory>;
  const { variables, steps, misfits, answers } = found;
  return { variables: own(variables), steps: own(steps), misfits: own(misfits), answers: own(answers) };
}

/** Returns the value as JSON keeps it, or the reason why it cannot be kept. */
export function kept(value: unknown): { readonly value: unknown } | { readonly problem: string } {
  const before = tooMuch(value, bounds.depth);
  if (before !== undefined) return { problem: before };
  try {
    // The parsed value is checked again: a toJSON may return anything, or nothing.
    const parsed: unknown = JSON.parse(JSON.stringify(value ?? null) ?? 'null');
    const problem = tooMuch(parsed, bounds.depth);
    return problem === undefined ? { value: parsed } : { problem };
  } catch {
    return { problem: 'is not JSON' };
  }
}

/** The text of a memory; undefined if it is too large. */
export function textOf(memory: Memory): string | undefined {
  const text = JSON.stringify(memory);
  return Buffer.byteLength(text) <= bounds.bytes ? text : undefined;
}

/** The text of a memory. Throws a ToolError that names the limit if it is too large. */
export function memoryText(memory: Memory): string {
  const text = textOf(memory);
  if (text === undefined) throw new ToolError(`What the task keeps ${NO_ROOM}`);
  return text;
}

function tooMuch(value: unknown, left: number): string | undefined {
  if (typeof value === 'string' && value.length > bounds.string)
    return `holds a string of over ${bounds.string} characters`;
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return 'is not JSON';
  if (typeof value !== 'object' || value === null) return undefined;
  if (left === 0) return `is nested deeper than ${bounds.depth} levels`;
  return Object.values(value)
    .map((inner) => tooMuch(inner, left - 1))
    .find((problem) => problem !== undefined);
}

/** Copies into an object without a prototype, as names may come from arguments. */
function own<T>(saved: Record<string, T> | undefined): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, saved);
}
