import { inspect } from 'node:util';
import { asDiskError } from './disk/disk.ts';

export function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error(`${text} is not a port`);
  return Number(text);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function explain(error: unknown, port: number): string {
  const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return inUse ? `port ${port} is in use: choose another one with --port` : messageOf(error);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters.
const COLOUR = /\u001b\[[\d;]*m/g;
/** Characters that do not show: controls, changes of direction, signs without width or ink (an empty Braille cell, a null notehead). */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

/** Makes a text that a tool or a client may have written safe for a terminal: only `\n` and `\t` stay of what does not show. */
export const printable = (text: string): string =>
  text.replace(COLOUR, '').replace(UNSEEN, (unseen) => (unseen === '\n' || unseen === '\t' ? unseen : ''));

/** Does the same, on one line. */
export const oneLine = (text: string): string => printable(text).replace(/\s*\n\s*/g, ' ');

/** `left alone: 19 resources (AWS::EC2, AWS::SNS)`, with a line break; empty if nothing is. */
export function leftAloneLine(leftAlone: ReadonlyMap<string, number>): string {
  const count = [...leftAlone.values()].reduce((sum, n) => sum + n, 0);
  return count === 0 ? '' : `left alone: ${count} resources (${[...leftAlone.keys()].sort().join(', ')})\n`;
}

export const refusedToolLine = (tool: string, why: string): string => `tool '${tool}' cannot run here: ${why}`;

/** Ends this process after an uncaught error, and says what to do if it is about the data folder. */
export function endAfterUncaught(dataDir = ''): void {
  process.once('uncaughtException', (error) => {
    process.stderr.write(`${asDiskError(error, dataDir)?.message ?? inspect(error)}\n`);
    process.exit(1);
  });
}
