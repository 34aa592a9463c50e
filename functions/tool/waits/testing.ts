import { setImmediate as turn } from 'node:timers/promises';
import { answerProblem } from '../../tasks/questions/answer-problem.ts';
import { isQuestion } from '../../tasks/questions/question.ts';
import type { Signal, Wait } from '../../tasks/tool-contract.ts';
import { checkOf } from '../../tasks/waits/webhook-schema.ts';
import { type Clock, clockOf } from '../clock.ts';
import { TaskEnded } from '../errors.ts';

/** The answer of a person to a link, what another system sends to a webhook, or that none comes in time. */
export type GivenSignal =
  | Omit<Extract<Signal, { readonly action: string }>, 'at'>
  | Omit<Extract<Signal, { readonly body: unknown }>, 'at'>
  | 'timeout';

/** A clock that a sleep moves, in place of taking the time. */
export function skippingClock(): Clock {
  let skipped = 0;
  return {
    ...clockOf(),
    now: () => Date.now() + skipped,
    async sleep(ms, signal) {
      await turn();
      if (signal.aborted) throw new TaskEnded();
      skipped += ms;
    },
  };
}

interface TestWait {
  readonly name: string;
  readonly wait: Wait;
  readonly clock: Clock;
  /** What the tool has stored of it. */
  readonly stored: string | undefined;
}

/** Ends a wait as the test says, and returns its signal. Throws an error if the server would refuse that. */
export async function endWait(
  { name, wait, clock, stored = '{}' }: TestWait,
  given: Readonly<Record<string, GivenSignal>> = {},
): Promise<Signal | undefined> {
  if (wait.kind === 'more') return undefined;
  const pass = () => clock.sleep(Math.max(0, wait.until - clock.now()), new AbortController().signal);
  if (wait.kind === 'time') return void (await pass());
  const signal = Object.hasOwn(given, name) ? given[name] : undefined;
  if (signal === undefined) throw new Error(`The tool waits for '${name}', and the test has no signal for it`);
  const { question, schema } = JSON.parse(stored);
  if (wait.kind === 'link' && !isQuestion(question)) {
    throw new Error(`The tool asks '${name}' in a form that the protocol does not have`);
  }
  if (signal === 'timeout') {
    await pass();
    return { timedOut: true };
  }
  const expected = wait.kind === 'link' ? 'an answer' : "a 'body'";
  const problem =
    'body' in signal === (wait.kind === 'link')
      ? `a ${wait.kind} gets ${expected}`
      : 'action' in signal
        ? (contentProblem(signal) ?? answerProblem(question, signal))
        : schema && bodyProblem(schema, signal.body);
  if (problem) throw new Error(`The test's signal for '${name}' would be refused: ${problem}`);
  return { ...JSON.parse(JSON.stringify(signal)), at: clock.now() };
}

/** Why the server refuses a body. Undefined: it does not. */
function bodyProblem(schema: object, body: unknown): string | undefined {
  const check = checkOf(schema);
  if (check === undefined || check(body)) return undefined;
  const [{ instancePath = '', message = 'is not valid' } = {}] = check.errors ?? [];
  return `the body at ${instancePath || '/'} ${message}`;
}

/** The server keeps the content of an answer that accepts, and of no other. */
const contentProblem = ({ action, content }: { readonly action: string; readonly content?: unknown }) =>
  action !== 'accept' && content !== undefined ? 'only an answer that accepts has content' : undefined;
