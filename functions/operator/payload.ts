import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { traitsOf } from '../tasks/engines.ts';
import { executionArnOf, isOlder } from '../tasks/ids.ts';
import { answersByName, outstanding } from '../tasks/input.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { isOf, placeOf, storedResult } from '../tasks/results/result-ref.ts';
import { isObject, parsed } from '../tasks/shape.ts';
import type { InputRequest, StoredWait } from '../tasks/tool-contract.ts';
import { signalUrl } from '../tasks/waits/signal-url.ts';
import { awaited, waitsOf } from '../tasks/waits/waits.ts';
import type { OperatorContext, States } from './context.ts';
import { NotAllowed } from './errors.ts';
import { isDenied, machineArnOf } from './runs.ts';
import type { Thrown } from './thrown.ts';

/** What a client and a tool wrote. Shown only with the right to it. */
export interface Payload {
  /** What the tool was called with. Undefined: not known any more. */
  readonly arguments?: unknown;
  /** Open questions, and what links and webhooks ask, by the key that an answer needs. */
  readonly questions?: Readonly<Record<string, InputRequest>>;
  /** The URLs of its links and webhooks by name: who has one may answer. */
  readonly links?: Readonly<Record<string, string>>;
  /** Answers, by the tool's names. */
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  /** What its failed attempts threw, the oldest first. */
  readonly errors?: readonly Thrown[];
}

/** Throws NotAllowed, InputLost, ResultStoreError. `record` is one with its payload. */
export async function payloadOf(record: TaskRecord, context: OperatorContext): Promise<Omit<Payload, 'errors'>> {
  try {
    const whole = await context.inputs.whole(record);
    const [first, result, open] = await Promise.all([
      firstInputOf(whole, context),
      resultOf(record, context),
      openWaits(record, context),
    ]);
    const questions = { ...outstanding(whole), ...open.questions };
    const answers = answersByName(whole);
    const links = linksOf(record, context);
    return {
      ...(first && { arguments: parsed(first.arguments) }),
      ...(Object.keys(questions).length > 0 && { questions }),
      ...(Object.keys(links).length > 0 && { links }),
      ...(Object.keys(answers).length > 0 && { answers }),
      ...(result !== undefined && { result: valueIn(result) }),
    };
  } catch (error) {
    if (!isDenied(error) && (error as { code?: string }).code !== 'AccessDenied') throw error;
    throw new NotAllowed(`The payload of task ${record.taskId}`, 'payload', 'read it');
  }
}

/** A result that is not JSON stays a text. */
function valueIn(text: string): unknown {
  const value = parsed(text);
  return value === undefined ? text : value;
}

/** What the first run of a task began with. */
export interface FirstInput {
  /** JSON text. */
  readonly arguments: string;
  /** Answers that were given before it, by the tool's names. */
  readonly inputResponses: Readonly<Record<string, unknown>>;
}

/**
 * What a task was called with: from its record, or from the input of its first run, which Step Functions keeps for 90 days
 * after its end, if it keeps a history. Undefined: not known any more.
 */
export async function firstInputOf(
  whole: TaskRecord,
  { server, states }: OperatorContext,
): Promise<FirstInput | undefined> {
  const own = whole.arguments ?? whole.kept;
  const machineArn = machineArnOf(whole, server);
  // A tool that asks first starts in round 2 for a client of 2025-11-25. Other tasks had a first run, maybe on another engine: what
  // their second run was given are answers to its questions.
  for (const round of traitsOf(whole).hasHistory ? [1, 2] : []) {
    const input = await inputOf(whole, executionArnOf({ taskId: whole.taskId, round }, machineArn), states);
    if (input === undefined) continue;
    const inputResponses = round === 1 || whole.legacy ? input.inputResponses : {};
    return { arguments: own ?? input.arguments, inputResponses };
  }
  return own === undefined ? undefined : { arguments: own, inputResponses: {} };
}

async function inputOf(record: TaskRecord, executionArn: string, states: States): Promise<FirstInput | undefined> {
  try {
    const { input, startDate } = await states.send(new DescribeExecutionCommand({ executionArn }));
    const value = parsed(input ?? '');
    if (isOlder(startDate?.getTime(), record) || !isObject(value) || typeof value.arguments !== 'string')
      return undefined;
    return { arguments: value.arguments, inputResponses: isObject(value.inputResponses) ? value.inputResponses : {} };
  } catch (error) {
    if ((error as Error).name === 'ExecutionDoesNotExist') return undefined;
    throw error;
  }
}

async function resultOf(record: TaskRecord, { results }: OperatorContext): Promise<string | undefined> {
  const stored = storedResult(record.result ?? '');
  if (stored === undefined) return record.result;
  const text = await results.get(placeOf(record, stored));
  return isOf(stored, text) ? text : undefined;
}

/** One wait of a round, as an operator sees it. */
export interface WaitShown {
  readonly name: string;
  readonly kind: StoredWait['kind'] | 'more';
  /** In ms since the epoch. */
  readonly until?: number;
  /** It has its signal. */
  readonly signalled?: true;
}

/** What a round waits for. Undefined: it does not wait. */
export function waitsShown(record: TaskRecord): readonly WaitShown[] | undefined {
  const waits = waitsOf(record);
  if (waits === undefined) return undefined;
  return Object.entries(waits).map(([name, wait]) => ({
    name,
    kind: wait.kind,
    ...('until' in wait && { until: wait.until }),
    ...(record.signalled?.includes(name) && { signalled: true }),
  }));
}

/** The URLs of the links and webhooks that have no signal yet, by name. */
function linksOf(record: TaskRecord, { server: { url } }: OperatorContext): Readonly<Record<string, string>> {
  const { hookKey: key } = record;
  if (key === undefined || url === undefined) return {};
  const place = { key, url: `${url}/signals` };
  return Object.fromEntries(awaited(record).map((name) => [name, signalUrl(place, name)]));
}

/** A webhook among questions: its answer is any JSON. */
export const WEBHOOK = 'webhook';

/**
 * What the links and webhooks of a round ask that have no signal yet, by name. Needs the right to payloads. Throws errors of AWS.
 *
 * @param record one with its payload
 */
export async function openWaits(record: TaskRecord, { journal, results }: OperatorContext): Promise<OpenWaits> {
  const { owner, taskId, round, deadlineAt: deadline } = record;
  const found = await Promise.all(
    awaited(record).map(async (name) => {
      const {
        value,
        bytes = 0,
        sha256,
      } = (await journal.readEntry({ owner, taskId, round, deadline }, { kind: 'wait', name })) ?? {};
      const read = sha256 === undefined ? value : await results.get({ owner, taskId, entryValue: sha256 });
      const wait = parsed(read !== undefined && (sha256 === undefined || isOf({ bytes, sha256 }, read)) ? read : '');
      return isObject(wait) ? [[name, wait as unknown as StoredWait] as const] : [];
    }),
  );
  const waits = Object.fromEntries(found.flat());
  const questions = Object.entries(waits).flatMap(([name, wait]) => {
    if (wait.kind === 'link') return [[name, wait.question] as const];
    return wait.kind === 'webhook' ? [[name, { method: WEBHOOK, params: { schema: wait.schema } }] as const] : [];
  });
  return { waits, questions: Object.fromEntries(questions) };
}

export interface OpenWaits {
  readonly waits: Readonly<Record<string, StoredWait>>;
  readonly questions: Readonly<Record<string, InputRequest>>;
}
