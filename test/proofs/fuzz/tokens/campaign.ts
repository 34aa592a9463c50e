import type { Cloud } from '../../../../local/cloud.ts';
import { modernRequest } from '../../../support/clients.ts';
import type { TestIssuer } from '../../../support/oidc.ts';
import { ENOUGH } from '../campaign.ts';
import { fuzzedRequest, type WireRequest } from '../generate/mutate.ts';
import { type Random, randomOf } from '../generate/random.ts';
import type { Known } from '../generate/requests.ts';
import { internalsIn, type WireAnswer } from '../judge/judge.ts';
import { overHttp } from '../over-http.ts';
import { type Forged, forged, type Verdict } from './forge.ts';

export interface TokenReport {
  /** The problems, for people; empty if there are none. */
  readonly problems: readonly string[];
  /** How often each verdict got each HTTP status. */
  readonly answers: ReadonlyMap<string, number>;
}

/** A good token must work in between, after this many requests. */
const GOOD_EVERY = 10;
/** An oversize header is refused before its token is read. */
const STATUSES: Readonly<Record<Verdict, readonly number[]>> = { refused: [401, 431], forbidden: [403, 431], good: [] };
const calls = (random: Random) => ({ name: random.pick(TOOLS), arguments: { a: 1 } });
const SCOPED = ['ask_scoped', 'event', 'direct_throws'];
const TOOLS = ['echo', 'sleep', 'ask', 'direct_echo', ...SCOPED];

/**
 * Sends requests with forged tokens to an embedded cloud of `test/support/apps/oauth-app.ts`. A refused one must have no
 * effect: the endpoint does not even run. They name tasks of a caller whose token is good.
 */
export async function fuzzTokens(
  cloud: Cloud,
  issuer: TestIssuer,
  seed: number,
  requests: number,
): Promise<TokenReport> {
  const { send, created, close } = overHttp(cloud);
  const answers = new Map<string, number>();
  const problems: string[] = [];
  const made: string[] = [];
  const secrets = [...cloud.tables, ...cloud.buckets, ...cloud.lambda.workers().map((worker) => worker.functionName)];
  const callsOfEndpoint = (mark: number) =>
    cloud.calls.since(mark).filter(({ caller }) => caller.startsWith('ServerEndpoint'));

  async function useGoodToken(): Promise<void> {
    const headers = { authorization: `Bearer ${issuer.token()}` };
    const call = { name: 'echo', arguments: { still: 'here' } };
    const { status, body } = await modernRequest(`${cloud.url}/mcp`, 'tools/call', call, { headers });
    if (body.result?.taskId === undefined) problems.push(`a good token got ${status} ${JSON.stringify(body)}`);
    else made.push(body.result.taskId);
  }
  function judge(
    index: number,
    request: WireRequest,
    { what, verdict }: Forged,
    answer: WireAnswer,
    mark: number,
  ): void {
    const { status, text } = answer;
    const wrong: string[] = [];
    if (
      verdict === 'good'
        ? status === 401 || (status === 403 && !isScoped(request))
        : !STATUSES[verdict].includes(status)
    ) {
      wrong.push(`HTTP ${status} to a token that is ${verdict}`);
    }
    const did = verdict === 'good' ? [] : callsOfEndpoint(mark);
    if (did.length > 0) wrong.push(`the endpoint made ${did.map(({ operation }) => operation).join(', ')}`);
    if (status === 401 && answer.headers['www-authenticate'] === undefined) wrong.push('401 without a challenge');
    const shown = internalsIn(answer, secrets);
    if (shown.length > 0) wrong.push(`shows internals: ${shown.join(', ')}`);
    if (wrong.length === 0) return;
    problems.push(`request ${index} of seed ${seed}, ${what}: ${wrong.join('; ')} -> ${text.slice(0, 300)}`);
  }

  for (let index = 0; index < requests && problems.length < ENOUGH; index++) {
    if (index % GOOD_EVERY === 0) await useGoodToken();
    const random = randomOf(seed, index);
    const known: Known = { sessions: [], tasks: made.slice(-20), tokens: [] };
    const token = forged(random, issuer);
    const request = withToken(fuzzedRequest(random, known, calls), token);
    const mark = cloud.calls.mark();
    const answer = await send(request);
    judge(index, request, token, answer, mark);
    // Good ones make tasks, too.
    if (token.verdict === 'good') for (const id of created()) if (!made.includes(id)) made.push(id);
    const kind = `${token.verdict}: HTTP ${answer.status}`;
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
  }
  close();
  const unwanted = [...created()].filter((id) => !made.includes(id));
  if (unwanted.length > 0) problems.push(`a refused token made tasks: ${unwanted.slice(0, 5).join(', ')}`);
  return { problems, answers };
}

/** Whether it may be for a tool that needs more than every call does. */
const isScoped = ({ headers, body }: WireRequest): boolean =>
  SCOPED.some((tool) => body?.includes(tool) || headers.some(([, value]) => value.includes(tool)));

/** Without other headers of that name; a preflight needs no token. */
function withToken({ method, headers, body }: WireRequest, { authorization }: Forged): WireRequest {
  const others = headers.filter(([name]) => name.toLowerCase() !== 'authorization');
  const all = [...others, ...authorization.map((value): [string, string] => ['authorization', value])];
  return { method: method === 'OPTIONS' ? 'GET' : method, headers: all, ...(body !== undefined && { body }) };
}
