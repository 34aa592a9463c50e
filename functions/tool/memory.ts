import type { InputResponse } from '../tasks/tool-contract.ts';
import { ToolError } from './errors.ts';

/** What a tool keeps between rounds and retries. */
export interface Memory {
  readonly variables: Record<string, unknown>;
  /** The results of its finished steps. */
  readonly steps: Record<string, unknown>;
  /** In a call without a task: the answers to earlier questions. Such a call brings only those to the last ones. */
  readonly answers: Record<string, InputResponse>;
}

/** Bounds of one task's memory (docs/writing-tools.md, "Limits"). */
const bounds = { bytes: 100_000, depth: 10, string: 64_000 } as const;

/** An empty memory, or that of the last round or attempt. */
export function openMemory(saved: unknown): Memory {
  const { variables, steps, answers } = (typeof saved === 'object' && saved !== null ? saved : {}) as Partial<Memory>;
  return { variables: own(variables), steps: own(steps), answers: own(answers) };
}

/** The value as it is after JSON. Throws ToolError, which names the limit, if it is too large. */
export function checked(what: string, value: unknown): unknown {
  const check = (one: unknown) => {
    const problem = tooMuch(one, bounds.depth);
    if (problem !== undefined) throw new ToolError(`${what} ${problem}`);
    return one;
  };
  // After JSON again: a toJSON may return anything, or nothing.
  return check(JSON.parse(JSON.stringify(check(value) ?? null) ?? 'null'));
}

/** Throws ToolError, which names the limit, if a value has no room beside the others. */
export function checkRoom(memory: Memory, kind: 'variables' | 'steps', name: string, value: unknown): void {
  memoryText({ ...memory, [kind]: { ...memory[kind], [name]: value } });
}

/** Throws as `checkRoom`. */
export function memoryText(memory: Memory): string {
  const text = JSON.stringify(memory);
  if (Buffer.byteLength(text) <= bounds.bytes) return text;
  throw new ToolError(`The variables and steps of a task may take ${bounds.bytes} bytes together`);
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

/** Names may come from arguments, so the object has no prototype. */
function own<T>(saved: Record<string, T> | undefined): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, saved);
}
