import { type Argument, type Call, closing, findCalls, isPunctuation, splitAtCommas } from './calls.ts';
import { type Token, tokenize } from './tokens.ts';

export interface Title {
  readonly text: string;
  readonly line: number;
  /** False when nothing under this title surely runs and has to pass. */
  readonly proves: boolean;
}

/** The titles of all tests and suites in the source of a test file, and of the rows of their tables. */
export function titlesIn(source: string): readonly Title[] {
  const tokens = tokenize(source);
  const calls = findCalls(tokens);
  const proving = calls.filter((call) => !isSuite(call) && runs(call, calls, tokens));
  return calls.flatMap((call) => {
    const proves = isSuite(call) ? proving.some((test) => encloses(call, test)) : proving.includes(call);
    return titlesOf(call, tokens).map(({ text, at }) => ({ text, line: lineOf(source, at), proves }));
  });
}

type Literal = Pick<Token, 'text' | 'at'>;

function titlesOf({ args, modifiers, configured, from }: Call, tokens: readonly Token[]): readonly Literal[] {
  const own = literal(args[0]);
  const isTable = modifiers.includes('each') || modifiers.includes('for');
  // A row is part of the title only where the title shows it.
  const shown = own !== undefined && /%[sdifjoOp]|\$0/.test(own.text);
  const rows = isTable && shown ? rowTitles(configured[0]?.[0], tokens, from) : [];
  return own === undefined ? [] : [own, ...rows];
}

/** The strings that rows are, or begin with. */
function rowTitles(table: Argument | undefined, tokens: readonly Token[], from: number): readonly Literal[] {
  const [first] = table ?? [];
  if (table === undefined || first === undefined) return [];
  const isName = first.kind === 'word' && (table.length === 1 || table[1]?.text === 'as');
  if (isName) return rowTitles(declared(first.text, tokens, from), tokens, from);
  if (!isPunctuation(first, '[')) return [];
  return parts(table).flatMap((row) => {
    if (isPunctuation(row[0], '...')) return rowTitles(row.slice(1), tokens, from);
    return literal(isPunctuation(row[0], '[') ? parts(row)[0] : row) ?? [];
  });
}

const parts = (list: Argument): readonly Argument[] => splitAtCommas(list.slice(1, closing(list, 0)));

/** What the last declaration of that name before a place gives it. */
function declared(name: string, tokens: readonly Token[], before: number): Argument | undefined {
  for (let at = before - 1; at > 0; at -= 1) {
    if (tokens[at]?.text !== name || !['const', 'let'].includes(tokens[at - 1]?.text ?? '')) continue;
    const value = valueAfter(tokens, at + 1);
    return isPunctuation(tokens[value], '[') ? tokens.slice(value, closing(tokens, value) + 1) : undefined;
  }
  return undefined;
}

/** Behind the equals sign, past a type in which there may be anything in brackets. */
function valueAfter(tokens: readonly Token[], start: number): number {
  let at = start;
  while (at < tokens.length && !isPunctuation(tokens[at], '=')) {
    at = ['(', '[', '{'].some((opener) => isPunctuation(tokens[at], opener)) ? closing(tokens, at) + 1 : at + 1;
  }
  return at + 1;
}

/** A string, a template, or several of them added up. */
function literal(argument: Argument | undefined): Literal | undefined {
  const strings = argument?.filter(({ kind }) => kind === 'string') ?? [];
  const isText = argument?.every((token) => token.kind === 'string' || isPunctuation(token, '+')) ?? false;
  const [first] = strings;
  return isText && first !== undefined ? { text: strings.map(({ text }) => text).join(''), at: first.at } : undefined;
}

const OFF = new Set(['skip', 'todo', 'fails', 'skipIf', 'runIf']);

function runs(test: Call, calls: readonly Call[], tokens: readonly Token[]): boolean {
  const suites = calls.filter((call) => isSuite(call) && encloses(call, test));
  // Without a function it is a todo; and it may skip itself while it runs.
  const body = tokens.slice(test.from, test.to);
  const skipsItself = body.some(({ text }, at) => text === 'skip' && isPunctuation(body[at + 1], '('));
  return test.args.length > 1 && !skipsItself && ![test, ...suites].some(isOff);
}

function isOff({ modifiers, args }: Call): boolean {
  return modifiers.some((name) => OFF.has(name)) || args.some(isOffByOptions);
}

function isOffByOptions(argument: Argument): boolean {
  if (!isPunctuation(argument[0], '{')) return false;
  return parts(argument).some(([key, , value]) => OFF.has(key?.text ?? '') && value?.text !== 'false');
}

const isSuite = ({ callee }: Call): boolean => callee === 'describe' || callee === 'suite';
const encloses = (outer: Call, inner: Call): boolean => outer.from < inner.from && inner.to <= outer.to;
const lineOf = (source: string, at: number): number => source.slice(0, at).split('\n').length;
