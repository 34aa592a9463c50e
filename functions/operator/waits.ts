import { limits } from '../tasks/limits.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { isOf } from '../tasks/results/result-ref.ts';
import { isObject, parsed } from '../tasks/shape.ts';
import type { InputRequest, StoredWait } from '../tasks/tool-contract.ts';
import { ownerPart, signalUrl } from '../tasks/waits/signal-url.ts';
import { awaited, waitsOf } from '../tasks/waits/waits.ts';
import type { OperatorContext } from './context.ts';

/** One wait of a round, as an operator sees it. */
export interface WaitShown {
  readonly name: string;
  readonly kind: StoredWait['kind'] | 'more';
  /** In ms since the epoch. */
  readonly until?: number;
  /** It has its signal. */
  readonly signalled?: true;
  /** Of a link or a webhook: who has it may answer. Only with the right to payloads. */
  readonly url?: string;
}

/** What a round waits for. Undefined: it does not wait. */
export function waitsShown(record: TaskRecord, { server }: OperatorContext): readonly WaitShown[] | undefined {
  const waits = waitsOf(record);
  const { hookKey: key, owner, taskId, signalled = [] } = record;
  if (waits === undefined || (record.status !== 'waiting' && record.status !== 'input_required')) return undefined;
  const place = key !== undefined &&
    server.url !== undefined && { key, url: `${server.url}/signals/${ownerPart(owner)}/${taskId}` };
  return Object.entries(waits).map(([name, wait]) => ({
    name,
    kind: wait.kind,
    ...('until' in wait && { until: wait.until }),
    ...(signalled.includes(name) && { signalled: true }),
    ...(place && (wait.kind === 'link' || wait.kind === 'webhook') && { url: signalUrl(place, name) }),
  }));
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
  const open = record.status === 'waiting' || record.status === 'input_required' ? awaited(record) : [];
  const found = await Promise.all(
    open.map(async (name) => {
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
  const waits = Object.fromEntries(found.flat().slice(0, limits.waits.ofRound));
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
