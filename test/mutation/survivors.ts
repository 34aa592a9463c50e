import { existsSync, readFileSync } from 'node:fs';
import { ENDPOINT } from './reasons/endpoint.ts';
import { MCP_TASK } from './reasons/mcp-task.ts';
import { METHODS } from './reasons/methods.ts';
import { STREAM } from './reasons/stream.ts';
import type { Survivor } from './reasons/survivor.ts';
import { TASKS } from './reasons/tasks.ts';

/** Where `from` or `to` ends in `…`, its beginning counts. */
const SURVIVORS = [...TASKS, ...ENDPOINT, ...MCP_TASK, ...METHODS, ...STREAM];

/** Why this mutant may survive, if it may. */
export function reasonFor(file: string, from: string, to: string): string | undefined {
  return SURVIVORS.find((known) => explains(known, file, from, to))?.why;
}

/** The entries whose code is no longer in their file: they explain nothing. */
export function staleReasons(): string[] {
  const isThere = ({ file, from }: Survivor) =>
    existsSync(file) && squeezed(readFileSync(file, 'utf8')).includes(from.replace(/…$/, ''));
  return SURVIVORS.filter((known) => !isThere(known)).map(lineOf);
}

/** A mutant in the terms of an entry. */
export interface Judged {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The entries for these files that none of the survivors needs. */
export function unusedReasons(files: ReadonlySet<string>, survivors: readonly Judged[]): string[] {
  const isUsed = (known: Survivor) => survivors.some(({ file, from, to }) => explains(known, file, from, to));
  return SURVIVORS.filter((known) => files.has(known.file) && !isUsed(known)).map(lineOf);
}

/** Code with each white space as one blank. */
export const squeezed = (code: string): string => code.replace(/\s+/g, ' ');

const lineOf = ({ file, from, to }: Survivor): string => `${file} \`${from}\` -> \`${to}\``;

const explains = (known: Survivor, file: string, from: string, to: string): boolean =>
  known.file === file && says(known.from, from) && says(known.to, to);

const says = (known: string, code: string): boolean =>
  known.endsWith('…') ? code.startsWith(known.slice(0, -1)) : code === known;
