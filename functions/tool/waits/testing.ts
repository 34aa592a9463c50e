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
  /** What the tool has stored of it. */
  readonly stored: string | undefined;
}

type Given = Readonly<Record<string, GivenSignal>>;

/**
 * Ends a round as the server does: at the signals that the test gives, or when the first time is over. Returns the signals.
 * Throws an error if the server would refuse one.
 */
export async function endFirst(
  waits: readonly TestWait[],
  clock: Clock,
  given: Given = {},
): Promise<Readonly<Record<string, Signal>>> {
  const come = waits.flatMap((one): [string, Signal][] => {
    const signal = signalFor(one, given);
    return signal === undefined ? [] : [[one.name, { ...JSON.parse(JSON.stringify(signal)), at: clock.now() }]];
  });
  if (come.length > 0 || waits.length === 0) return Object.fromEntries(come);
  const first = Math.min(...waits.map(({ wait }) => ('until' in wait ? wait.until : 0)));
  await clock.sleep(Math.max(0, first - clock.now()), new AbortController().signal);
  const over = waits.filter(({ wait }) => 'until' in wait && wait.kind !== 'time' && wait.until <= clock.now());
  return Object.fromEntries(over.map(({ name }) => [name, { timedOut: true }]));
}

/** What comes for a wait. Undefined: nothing, until its time is over. */
function signalFor({ name, wait, stored = '{}' }: TestWait, given: Given): object | undefined {
  if (wait.kind === 'more' || wait.kind === 'time') return undefined;
  const signal = Object.hasOwn(given, name) ? given[name] : undefined;
  if (signal === undefined) throw new Error(`The tool waits for '${name}', and the test has no signal for it`);
  const { question, schema } = JSON.parse(stored);
  if (wait.kind === 'link' && !isQuestion(question)) {
    throw new Error(`The tool asks '${name}' in a form that the protocol does not have`);
  }
  if (signal === 'timeout') return undefined;
  const expected = wait.kind === 'link' ? 'an answer' : "a 'body'";
  const problem =
    'body' in signal === (wait.kind === 'link')
      ? `a ${wait.kind} gets ${expected}`
      : 'action' in signal
        ? (contentProblem(signal) ?? answerProblem(question, signal))
        : schema && bodyProblem(schema, signal.body);
  if (problem) throw new Error(`The test's signal for '${name}' would be refused: ${problem}`);
  return signal;
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
