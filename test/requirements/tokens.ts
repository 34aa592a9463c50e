export interface Token {
  readonly kind: 'word' | 'string' | 'number' | 'regex' | 'punctuation';
  /** For a string or template: what is between the quotes, with `…` in the place of each substitution. */
  readonly text: string;
  readonly at: number;
}

type Kind = Token['kind'] | 'nothing';

const PATTERNS: readonly (readonly [Kind, RegExp])[] = [
  ['nothing', /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y],
  ['regex', /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y],
  ['word', /[\p{ID_Start}$_#][\p{ID_Continue}$]*/uy],
  ['number', /[0-9][\w.]*/y],
  ['punctuation', /=>|\.\.\.|[\s\S]/y],
];

/** Words after which a slash begins a regular expression, though a value could end in a word. */
const BEFORE_VALUE = new Set(['return', 'typeof', 'case', 'in', 'of', 'await', 'void', 'delete', 'else', 'do', 'new']);

/** The tokens of TypeScript source: enough of it to tell code from comments, strings and regular expressions. */
export const tokenize = (source: string): readonly Token[] => scan(source, 0, false).tokens;

interface Scan {
  readonly tokens: readonly Token[];
  readonly end: number;
}

/** Up to the end of the source, or in a substitution up to the brace that closes it. */
function scan(source: string, start: number, inSubstitution: boolean): Scan {
  const tokens: Token[] = [];
  let depth = 0;
  let at = start;
  while (at < source.length) {
    if (source[at] === '`') {
      const { text, end } = template(source, at);
      tokens.push({ kind: 'string', text, at });
      at = end;
      continue;
    }
    const { kind, text } = next(source, at, tokens.at(-1));
    if (text === '{') depth += 1;
    if (text === '}') depth -= 1;
    if (inSubstitution && depth < 0) break;
    if (kind !== 'nothing') tokens.push({ kind, text: kind === 'string' ? unquote(text) : text, at });
    at += text.length;
  }
  return { tokens, end: at };
}

function next(source: string, at: number, previous: Token | undefined): { kind: Kind; text: string } {
  for (const [kind, pattern] of PATTERNS) {
    if (kind === 'regex' && endsValue(previous)) continue;
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) return { kind, text };
  }
  throw new Error(`no token at ${at}`);
}

/** After a value a slash divides. */
function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === 'punctuation') return [')', ']', '}'].includes(token.text);
  return !(token.kind === 'word' && BEFORE_VALUE.has(token.text));
}

function template(source: string, start: number): { text: string; end: number } {
  let text = '';
  let at = start + 1;
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') {
      text += source[at + 1] ?? '';
      at += 2;
    } else if (source.startsWith('${', at)) {
      text += '…';
      at = scan(source, at + 2, true).end + 1;
    } else {
      text += source[at];
      at += 1;
    }
  }
  return { text, end: at + 1 };
}

const unquote = (literal: string): string => literal.slice(1, -1).replaceAll(/\\([\s\S])/g, '$1');
