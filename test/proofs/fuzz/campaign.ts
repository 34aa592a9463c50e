import { limits } from '../../../functions/tasks/limits.ts';
import { fuzzedRequest, type WireRequest } from './generate/mutate.ts';
import { randomOf } from './generate/random.ts';
import type { Calls, Known } from './generate/requests.ts';
import { problemsOf, type Rules, type WireAnswer } from './judge/judge.ts';

export interface Target {
  send(request: WireRequest): Promise<WireAnswer>;
  /** What was stored, started or invoked for clients so far: counted before and after each request. */
  deeds(): number;
  /** Read units that the endpoint has consumed since the last call. @default not measured */
  units?(): number;
}

export interface Plan extends Rules {
  readonly seed: number;
  readonly requests: number;
  readonly calls: Calls;
}

export interface Failure {
  readonly index: number;
  readonly problems: readonly string[];
  readonly request: WireRequest;
  readonly answer: WireAnswer;
}

export interface Report {
  readonly failures: readonly Failure[];
  /** How often each HTTP status and error code was the answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** Ids of the tasks that a client made or asked for. */
  readonly named: ReadonlySet<string>;
  readonly slowest: number;
}

/**
 * Read units of one request (docs/limits.md, "The most that one request can cost"). One that is held reads as much once more
 * at its end, and these in each second.
 */
const MOST_UNITS = 110;
const A_SECOND = limits.streamUnits;

/** Failures that end a campaign: more of them would say the same. */
export const ENOUGH = 10;

/** One request after the other, so that each can be judged by what it did; what the server says is used against it. */
export async function campaign(target: Target, plan: Plan): Promise<Report> {
  const known: Known = { sessions: [], tasks: [], tokens: [] };
  const answers = new Map<string, number>();
  const named = new Set<string>();
  const failures: Failure[] = [];
  let slowest = 0;
  for (let index = 0; index < plan.requests && failures.length < ENOUGH; index++) {
    const request = fuzzedRequest(randomOf(plan.seed, index), known, plan.calls);
    const before = target.deeds();
    target.units?.();
    const answer = await target.send(request);
    const problems = await problemsOf(request, answer, plan);
    if (isRefused(request, answer) && target.deeds() !== before) problems.push('refused, but something was done');
    const units = target.units?.() ?? 0;
    const held = Math.floor(answer.ms / 1_000);
    const most = held === 0 ? MOST_UNITS : 2 * MOST_UNITS + A_SECOND * held;
    if (units > most) problems.push(`it read ${units} units, and may read ${most}`);
    if (problems.length > 0) failures.push({ index, problems, request, answer });
    const kind = `HTTP ${answer.status} ${codeOf(answer) ?? ''}`.trim();
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
    slowest = Math.max(slowest, answer.ms);
    learn(answer, known, named, index);
  }
  return { failures, answers, named, slowest };
}

/** A text for people: the problem, and how to reproduce it. */
export function explain({ failures }: Report, { seed }: Plan): string {
  const some = failures.slice(0, 5).map(
    ({ index, problems, request, answer }) =>
      `request ${index} of seed ${seed} (FUZZ_SEED=${seed}): ${[...new Set(problems)].join('; ').slice(0, 1_500)}
  ${request.method} ${JSON.stringify(request.headers).slice(0, 1_000)}
  ${request.body?.toString('utf8').slice(0, 1_000) ?? ''}
  -> ${answer.status} ${answer.text.slice(0, 500)}`,
  );
  return `${failures.length} of the answers break a rule\n${some.join('\n')}`;
}

const codeOf = ({ text }: WireAnswer): string | undefined => /"error":\{"code":(-?\d+)/.exec(text)?.[1];

/** Codes of requests that are refused before they have any effect. */
function isRefused({ body }: WireRequest, answer: WireAnswer): boolean {
  const code = codeOf(answer);
  if (code === undefined) return answer.status >= 400;
  const message = messageOf(body);
  // A posted answer that does not fit its question is counted.
  if (!('method' in message)) return code !== '-32602' || !('result' in message || 'error' in message);
  // The tool has run and failed, or asks for input that its client cannot give.
  const ran = message.method === 'tools/call' || message.method === 'tasks/result';
  if (code === '-32603') return !ran || answer.text.includes('"TooManyOpenTasks"');
  return code !== '-32021' || !ran || answer.text.includes('"extensions"');
}

function messageOf(body: Buffer | undefined): Record<string, unknown> {
  try {
    const message = JSON.parse(body?.toString('utf8') ?? '') as unknown;
    return typeof message === 'object' && message !== null ? { ...message } : {};
  } catch {
    return {};
  }
}

const TASK_ID = /"taskId":"([0-9a-z]{36}|[0-9a-z]{26}_[0-9a-z]{36})"/g;
/** The task that an answer is about; a tool may return a value that looks like a task. */
const OWN_TASK = /"result":\{(?:"task":\{)?"taskId":"([0-9a-z_]+)","status"/;
const TOKEN = /(?:"(?:requestState|nextCursor|id)":"|^id: )([\w-]+\.[\w-]{43})/gm;
const MOST = { sessions: 4, tasks: 60, tokens: 40 };

function learn({ headers, text }: WireAnswer, known: Known, named: Set<string>, index: number): void {
  const keep = (list: string[], most: number, value: string) => {
    if (list.includes(value)) return;
    list[list.length < most ? list.length : index % most] = value;
  };
  if (headers['mcp-session-id'] !== undefined) keep(known.sessions, MOST.sessions, headers['mcp-session-id']);
  const own = OWN_TASK.exec(text)?.[1];
  if (own !== undefined) named.add(own);
  for (const [, id = ''] of text.matchAll(TASK_ID)) keep(known.tasks, MOST.tasks, id);
  for (const [, token = ''] of text.matchAll(TOKEN)) keep(known.tokens, MOST.tokens, token);
}
