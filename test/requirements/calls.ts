import type { Token } from './tokens.ts';

/** A call of test, it or describe, such as `test.each(rows)('…', run)`. */
export interface Call {
  readonly callee: string;
  /** The names after it: `each`, `skip`, `concurrent`… */
  readonly modifiers: readonly string[];
  /** The arguments of the modifiers that take some, as in `each(…)` and `skipIf(…)`, in their order. */
  readonly configured: readonly (readonly Argument[])[];
  readonly args: readonly Argument[];
  /** Where its tokens begin and end. */
  readonly from: number;
  readonly to: number;
}

export type Argument = readonly Token[];

const CALLEES = new Set(['test', 'it', 'describe', 'suite']);
const CONFIGURED = new Set(['each', 'for', 'skipIf', 'runIf']);
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

export function findCalls(tokens: readonly Token[]): readonly Call[] {
  return tokens.flatMap((token, at) => {
    const before = tokens[at - 1]?.text;
    const isName = token.kind === 'word' && CALLEES.has(token.text);
    return isName && before !== '.' && before !== 'function' ? (callAt(tokens, at) ?? []) : [];
  });
}

function callAt(tokens: readonly Token[], start: number): Call | undefined {
  const modifiers: string[] = [];
  const lists: (readonly Argument[])[] = [];
  let wanted = 1;
  let at = start + 1;
  while (lists.length < wanted) {
    const token = tokens[at];
    if (token === undefined) return undefined;
    if (token.kind === 'string' && modifiers.length > 0) {
      // A table written as a tagged template: its rows have no titles.
      lists.push([]);
      at += 1;
    } else if (isPunctuation(token, '.')) {
      const name = tokens[at + 1]?.text ?? '';
      modifiers.push(name);
      if (CONFIGURED.has(name)) wanted += 1;
      at += 2;
    } else if (isPunctuation(token, '<')) {
      at = closing(tokens, at) + 1;
    } else if (isPunctuation(token, '(')) {
      const end = closing(tokens, at);
      lists.push(splitAtCommas(tokens.slice(at + 1, end)));
      at = end + 1;
    } else return undefined;
  }
  const args = lists.pop() ?? [];
  return { callee: tokens[start]?.text ?? '', modifiers, configured: lists, args, from: start, to: at };
}

/** The place of the bracket that closes the one at this place. */
export function closing(tokens: readonly Token[], open: number): number {
  const opener = tokens[open]?.text ?? '';
  // An angle bracket is one only between types, so the other kinds of brackets do not count it.
  const nests = opener === '<' ? CLOSING : { '(': ')', '[': ']', '{': '}' };
  const expected: (string | undefined)[] = [];
  for (let at = open; at < tokens.length; at += 1) {
    const { kind, text = '' } = tokens[at] ?? {};
    if (kind !== 'punctuation') continue;
    if (text in nests) expected.push(CLOSING[text]);
    else if (text === expected.at(-1)) expected.pop();
    if (expected.length === 0) return at;
  }
  return tokens.length;
}

/** The parts of a list, without the commas between them. */
export function splitAtCommas(tokens: readonly Token[]): readonly Argument[] {
  const parts: Token[][] = [[]];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (isPunctuation(token, ',')) {
      parts.push([]);
      continue;
    }
    const end = token.kind === 'punctuation' && '([{'.includes(token.text) ? closing(tokens, at) : at;
    parts.at(-1)?.push(...tokens.slice(at, end + 1));
    at = end;
  }
  return parts.filter((part) => part.length > 0);
}

export function isPunctuation(token: Token | undefined, text: string): boolean {
  return token?.kind === 'punctuation' && token.text === text;
}
