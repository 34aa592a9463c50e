import { type Received, receiveSignal } from '../../engine/receive.ts';
import { McpError } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { answerProblem } from '../../tasks/questions/answer-problem.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { parsed } from '../../tasks/shape.ts';
import type { InputRequest, Signal } from '../../tasks/tool-contract.ts';
import type { Change } from '../../tasks/transitions/change.ts';
import { awaited } from '../../tasks/waits/waits.ts';
import type { OperatorContext } from '../context.ts';
import { OperatorError } from '../errors.ts';
import { type OpenWaits, openWaits } from '../payload.ts';
import { type ActContext, byOperator, type Operator, type Outcome, readRecord, reported } from './act.ts';
import { responsesFrom } from './responses.ts';

type Pairs = readonly (readonly [key: string, text: string])[];
/** A signal without its time, by the name of its wait. */
type Named = readonly [name: string, signal: { readonly body: unknown } | Omit<Answer, 'at'>];
type Answer = Extract<Signal, { action: unknown }>;

const isNamed = (record: TaskRecord, key: string): boolean =>
  awaited(record).some((name) => key === name || key.startsWith(`${name}.`));

/** Whether these keys are for a link or a webhook of the round. Beside questions of the client, only a name says so. */
export const namesWaits = (record: TaskRecord, pairs: Pairs): boolean =>
  pairs.length > 0 &&
  awaited(record).length > 0 &&
  (record.status === 'waiting' || pairs.some(([key]) => isNamed(record, key)));

/**
 * Sends the signals for links and webhooks, in place of whom they wait for, with the name of the operator. Throws OperatorError.
 *
 * @param record with its payload
 * @param pairs `key=value`: of links as `responsesFrom` takes them, of webhooks `name={…}`
 */
export async function answerWaits(
  record: TaskRecord,
  pairs: Pairs,
  operator: Operator,
  context: OperatorContext,
  engine: ActContext,
): Promise<Outcome> {
  if (record.status !== 'waiting' && !pairs.every(([key]) => isNamed(record, key))) {
    throw new OperatorError('Answer what the task waits for, and what it asks its client, one after the other');
  }
  const open = await openWaits(record, context);
  let now = record;
  const answered: string[] = [];
  for (const [name, signal] of signalsOf(pairs, open, operator)) {
    const received = await receiveSignal(
      {
        read: () => readRecord(record, true, context),
        name,
        until: open.waits[name]?.until ?? 0,
        signal: (at) => ({ ...signal, at }),
        marked: (of: TaskRecord, change: Change) => byOperator(of, change, 'signalled', operator),
        sleep: context.sleep,
      },
      engine,
    ).catch((error: unknown) => {
      // Those before it are stored, which the audit line has to say.
      if (answered.length === 0 || !(error instanceof McpError)) throw error;
      return error;
    });
    if (received instanceof McpError || received?.outcome !== 'stored') {
      const why = whyNot(received);
      const done = answered.length > 0;
      const message = `${done ? `Answered: ${answered.join(', ')}. ` : ''}Not answered: ${name}: ${why}`;
      const plain = `${done ? `${answered.length} answered. ` : ''}Not answered: ${why}`;
      return reported('answer', record, operator, { done, message }, context, plain);
    }
    answered.push(name);
    now = received.record;
  }
  const left = awaited(now);
  const message = left.length === 0 ? 'Answered' : `Answered. It waits for ${left.join(', ')}`;
  return reported('answer', record, operator, { done: true, message }, context, `Answered. ${left.length} open`);
}

function whyNot(received: Received | McpError | undefined): string {
  if (received instanceof McpError) return received.message;
  return received?.signal === undefined ? 'it is over' : 'it has its answer already';
}

/** Throws OperatorError for an answer that does not fit. */
function signalsOf(pairs: Pairs, { waits, questions }: OpenWaits, { who }: Operator): readonly Named[] {
  const isBody = ([key]: Pairs[number]) => waits[key]?.kind === 'webhook';
  const links = Object.fromEntries(Object.entries(questions).filter(([name]) => waits[name]?.kind === 'link'));
  const bodies = pairs.filter(isBody).map(([name, text]): Named => {
    const body = parsed(text);
    return [name, { body: body === undefined ? text : body }];
  });
  const given = responsesFrom(
    pairs.filter((pair) => !isBody(pair)),
    links,
  );
  const answers = Object.entries(given).map(([name, answer]): Named => {
    const problem = answerProblem(links[name] as InputRequest, answer);
    if (problem !== undefined) throw new OperatorError(`${name}: ${problem}`);
    const { action, content } = answer as Answer;
    const by = [...who].slice(0, limits.signal.by).join('');
    return [name, { action, ...(action === 'accept' && { content: content ?? {} }), by }];
  });
  return [...bodies, ...answers];
}
