import { exchange, judged } from '../support/schema/exchange.ts';
import type { WireRequest } from './mutate.ts';

/** What came back, whole. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** How long it took. */
  readonly ms: number;
}

export interface Rules {
  /** What no client may see: names of tables, machines, buckets. */
  readonly secrets: readonly string[];
  /** The longest the answer to a request may take, in ms. */
  readonly bound: (request: WireRequest) => number;
}

interface RpcError {
  readonly code: number;
  readonly message: string;
}

/** HTTP statuses by error code, requirements 1.5; the era decides which of two. */
const STATUSES: ReadonlyMap<number, readonly number[]> = new Map([
  [-32700, [400]],
  [-32600, [400, 403, 404, 406, 413, 415, 429]],
  [-32601, [200, 404]],
  [-32602, [200, 400]],
  [-32603, [200]],
  [-32020, [400]],
  [-32021, [400]],
  [-32022, [400]],
]);

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

/** Everything that is wrong with an answer; empty if nothing is. */
export async function problemsOf(request: WireRequest, answer: WireAnswer, rules: Rules): Promise<string[]> {
  const { status, headers, text, ms } = answer;
  const problems: string[] = [];
  const unless = (fine: boolean, problem: string) => void (fine || problems.push(problem));
  const type = headers['content-type'] ?? '';
  const error = errorIn(text, type);

  unless(ms <= rules.bound(request), `took ${Math.round(ms)} ms`);
  unless(!`${text}`.includes('"Internal error"'), 'an error that nobody foresaw');
  unless(status < 500, `HTTP ${status}`);
  unless(status < 500 || error !== undefined, `HTTP ${status} without a JSON-RPC error`);
  const shown = internalsIn(answer, rules.secrets);
  unless(shown.length === 0, `shows internals: ${shown.join(', ')}`);
  problems.push(...statusProblems(request, answer, error));
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

/** What an answer shows of the inside. The name of the error that ended a tool is for its caller to know. */
export function internalsIn(
  { text, headers }: Pick<WireAnswer, 'text' | 'headers'>,
  secrets: readonly string[],
): string[] {
  const shown = `${text.replace(/"reason":"[\w.:-]{1,100}"/g, '')}\n${JSON.stringify(headers)}`;
  const found = INTERNALS.flatMap((pattern) => pattern.exec(shown)?.[0] ?? []);
  return [...found, ...secrets.filter((secret) => shown.includes(secret))];
}

function statusProblems({ method }: WireRequest, answer: WireAnswer, error: RpcError | undefined): string[] {
  const { status, headers, text } = answer;
  if (error !== undefined) {
    const allowed = STATUSES.get(error.code);
    return allowed === undefined || allowed.includes(status) ? [] : [`${error.code} with HTTP ${status}`];
  }
  switch (status) {
    case 200:
      return [];
    case 202:
      return text === '' && method === 'POST' ? [] : ['202 with a body, or to what was not posted'];
    case 204:
      return method === 'OPTIONS' ? [] : [`204 to ${method}`];
    case 405:
      return headers.allow === undefined ? ['405 without Allow'] : [];
    case 431:
      return [];
    default:
      return [`HTTP ${status} without a JSON-RPC error`];
  }
}

function errorIn(text: string, type: string): RpcError | undefined {
  if (!type.startsWith('application/json')) return undefined;
  try {
    const message = JSON.parse(text) as { jsonrpc?: string; error?: RpcError };
    return message.jsonrpc === '2.0' ? message.error : undefined;
  } catch {
    return undefined;
  }
}

/** What `initialize` agreed on counts, whatever a later header says (C-03): a session id says what that was. */
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
