import { classify } from '../../../support/schema/classify.ts';
import { exchange, judged } from '../../../support/schema/exchange.ts';
import type { Era } from '../../../support/schema/published.ts';
import type { WireRequest } from '../generate/mutate.ts';

/** The whole answer. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** How long it took. */
  readonly ms: number;
}

export interface Rules {
  /** Texts that no client may see: names of tables, machines, buckets. */
  readonly secrets: readonly string[];
  /** The longest the answer to a request may take, in ms. */
  readonly bound: (request: WireRequest) => number;
}

interface RpcError {
  readonly code: number;
  readonly message: string;
}

/**
 * HTTP statuses by error code in both revisions, docs/protocol.md 1.5: of the older, of the newer. Others are unknown.
 */
const STATUSES: ReadonlyMap<number, Readonly<Record<Era, readonly number[]>>> = new Map([
  [-32700, { '2025-11-25': [400], '2026-07-28': [400] }],
  [
    -32600,
    { '2025-11-25': [400, 403, 404, 405, 406, 413, 415, 429], '2026-07-28': [400, 403, 404, 405, 406, 413, 415, 429] },
  ],
  [-32601, { '2025-11-25': [200], '2026-07-28': [200, 404] }],
  [-32602, { '2025-11-25': [200, 400], '2026-07-28': [200, 400] }],
  [-32603, { '2025-11-25': [200], '2026-07-28': [200] }],
  [-32020, { '2025-11-25': [400], '2026-07-28': [400] }],
  [-32021, { '2025-11-25': [400], '2026-07-28': [400] }],
  [-32022, { '2025-11-25': [400], '2026-07-28': [400] }],
]);

/**
 * Failures inside a method that may happen in normal operation, by their text: of the tool, the task, a limit. All others,
 * above all an advice to try again, would be the server's own fault.
 */
const FAILURES: readonly RegExp[] = [
  /^The tool failed$/,
  /^The tool ran out of its time$/,
  /^The tool did not finish in time$/,
  /^The tool did not return JSON$/,
  /^The tool's result is too large: /,
  /^The tool asked for input in a form that is not valid$/,
  /^The tool asked for input with too much state: /,
  /^The tool asked for input, which it can do in 2025-11-25 only if it may run as a task$/,
  /^The tool needs input of a kind that the client did not declare it can give$/,
  /^No answer came before the deadline$/,
  /^The client refused [a-z]+\/[a-zA-Z]+$/,
  /^The client gave too many answers that are not valid: \d+ to one question, or \d+ in one round$/,
  /^Task was cancelled$/,
  /^The task is not finished: accept text\/event-stream to wait longer$/,
  /^Too many open tasks: \d+ have not ended\./,
  // A tool without `defineTool` can return a value that looks like a reference to a stored result.
  /^The result of task \S+ cannot be read at the moment: ask for it again, the task itself is complete$/,
];

/** Stack frames, files, AWS, what the test tools hide. */
const INTERNALS: readonly RegExp[] = [
  /\bat (?:async )?[\w.<>]+ ?\(/,
  /\bat (?:file:|node:|\/)/,
  /node_modules|\/var\/task|\/home\/|\/tmp\/|\/work\/|file:\/\/\//,
  /\.(?:ts|js|mjs|cjs):\d+/,
  /arn:aws|amazonaws|AKIA[A-Z0-9]{8}/,
  /[A-Za-z]Exception\b|ECONN|ETIMEDOUT|ENOENT/,
  /TypeError|RangeError|SyntaxError|ReferenceError|is not a function|undefined \(reading|Cannot read prop|JSON at position/,
  /dynamodb|stepfunctions|states\.amazon|secretsmanager/i,
  /secret-in-message/,
];

/** All problems of an answer; empty if it has none. */
export async function problemsOf(request: WireRequest, answer: WireAnswer, rules: Rules): Promise<string[]> {
  const { status, headers, text, ms } = answer;
  const problems: string[] = [];
  const unless = (fine: boolean, problem: string) => void (fine || problems.push(problem));
  const errors = errorsIn(answer);

  unless(ms <= rules.bound(request), `took ${Math.round(ms)} ms`);
  unless(status < 500, `HTTP ${status}`);
  unless(status < 500 || errors.length > 0, `HTTP ${status} without a JSON-RPC error`);
  const shown = internalsIn(answer, rules.secrets);
  unless(shown.length === 0, `shows internals: ${shown.join(', ')}`);
  for (const { code, message } of errors) {
    unless(code !== -32603 || FAILURES.some((text) => text.test(message)), `an unknown failure: ${message}`);
  }
  problems.push(...statusProblems(request, answer, errors));
  if (request.expects !== undefined) problems.push(...unexpected(request, request.expects, answer, errors));
  try {
    const sent = asAgreed(Object.fromEntries(joined(request.headers)));
    const whole = new Response(text === '' ? null : text, { status, headers });
    const posted = request.method !== 'POST' ? undefined : (request.body?.toString('utf8') ?? '');
    for await (const _event of judged(whole, exchange(posted, sent)));
  } catch (problem) {
    problems.push(String(problem));
  }
  return problems;
}

/** Internal details in an answer. The caller may see the name of the error that ended a tool. */
export function internalsIn(
  { text, headers }: Pick<WireAnswer, 'text' | 'headers'>,
  secrets: readonly string[],
): string[] {
  const shown = `${text.replace(/"reason":"[\w.:-]{1,100}"/g, '')}\n${JSON.stringify(headers)}`;
  const found = INTERNALS.flatMap((pattern) => pattern.exec(shown)?.[0] ?? []);
  return [...found, ...secrets.filter((secret) => shown.includes(secret))];
}

function statusProblems(request: WireRequest, answer: WireAnswer, errors: readonly RpcError[]): string[] {
  const { status, headers, text } = answer;
  const sent = asAgreed(Object.fromEntries(joined(request.headers)));
  const { era } = classify(request.body?.toString('utf8'), (name) => sent[name]);
  if (status === 405 && headers.allow === undefined) return ['405 without Allow'];
  // On a stream nothing but the code is left to say it.
  const [first] = isStream(answer) ? [] : errors;
  const unknown = errors.filter(({ code }) => !STATUSES.has(code)).map(({ code }) => `the error code ${code}`);
  if (first !== undefined) {
    const allowed = STATUSES.get(first.code)?.[era] ?? [];
    return allowed.includes(status) ? unknown : [...unknown, `${first.code} with HTTP ${status} in ${era}`];
  }
  switch (status) {
    case 200:
      return unknown;
    case 202:
      return text === '' && request.method === 'POST' ? [] : ['202 with a body, or to what was not posted'];
    case 431:
      return [];
    default:
      return [`HTTP ${status} without a JSON-RPC error`];
  }
}

/** A request that was not changed gets its result, or an error that it may get. */
function unexpected(
  { method }: WireRequest,
  expects: readonly number[],
  answer: WireAnswer,
  errors: readonly RpcError[],
): string[] {
  const codes = errors.map(({ code }) => code);
  if (answer.status === 405 ? method !== 'POST' : codes.length === 0 && answer.status < 300) return [];
  const wrong = codes.filter((code) => !expects.includes(code));
  if (codes.length > 0 && wrong.length === 0) return [];
  return [`HTTP ${answer.status} ${wrong.join(', ')} to a request that is in order`];
}

const isStream = ({ headers }: WireAnswer): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true;

/** The error an answer is, or those that its stream carries. */
function errorsIn(answer: WireAnswer): RpcError[] {
  const { headers, text } = answer;
  if (isStream(answer)) return [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(([, json = '']) => errorOf(json));
  return headers['content-type']?.startsWith('application/json') === true ? errorOf(text) : [];
}

function errorOf(json: string): RpcError[] {
  try {
    const { jsonrpc, error } = JSON.parse(json) as { jsonrpc?: string; error?: RpcError };
    return jsonrpc === '2.0' && error !== undefined ? [error] : [];
  } catch {
    return [];
  }
}

/** The version of `initialize` counts, not the version of a later header (C-03). The session id holds it. */
function asAgreed(headers: Record<string, string>): Record<string, string> {
  const { 'mcp-session-id': session = '', 'mcp-protocol-version': version } = headers;
  const agreed = /"version":"([\d-]{10})"/.exec(Buffer.from(session.split('.')[0] ?? '', 'base64url').toString())?.[1];
  const older = version === undefined || ['2025-11-25', '2025-06-18'].includes(version.trim());
  return agreed !== undefined && older ? { ...headers, 'mcp-protocol-version': agreed } : headers;
}

/** Headers that came twice count as one, with all values (RFC 9110, 5.3). */
export function joined(headers: WireRequest['headers']): Map<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of headers) {
    const before = all.get(name.toLowerCase());
    all.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return all;
}
