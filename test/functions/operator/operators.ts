import { GetExecutionHistoryCommand } from '@aws-sdk/client-sfn';
import type { OperatorContext, States, ToolFacts } from '../../../functions/operator/context.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { journalStore } from '../../../functions/tasks/table/journal-items.ts';
import { operatorReads } from '../../../functions/tasks/table/operator-reads.ts';
import { operatorEvents } from '../../../functions/tasks/table/operators/events.ts';
import { create, type NewTask } from '../../../functions/tasks/transitions/begin.ts';
import { fakeClient } from '../../support/aws-client.ts';
import { MACHINES } from '../../support/engine/executions.ts';
import { memoryEngine, TABLE } from '../../support/engine/memory.ts';

export const T0 = 1_700_000_000_000;
export const MINUTE = 60_000;
export const ann = { who: 'ann', reason: 'INC-7' };
export const KEY = { owner: 'owner#o', taskId: '01m81rnzam'.padEnd(36, '0') };
const NEW: NewTask = { tool: 'tool', ttl: 60 * MINUTE, timeout: 10 * MINUTE, accepts: [], legacy: false };

/** A task of ten minutes, made at T0. */
export const task = (more: Partial<TaskRecord> = {}): TaskRecord => ({ ...create(KEY, NEW, T0), ...more });
const asks = (...names: string[]) => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
  const form = { method: 'elicitation/create', params: { message: '?', requestedSchema: schema } };
  return JSON.stringify({ inputRequests: Object.fromEntries(names.map((name) => [name, form])) });
};
/** One that asks these questions, a form with the field `ok` each. */
export const asking = (names = ['a'], more: Partial<TaskRecord> = {}): TaskRecord =>
  task({
    ...{ status: 'input_required', asked: asks(...names), arguments: '{"n":1}', accepts: ['elicitation/create'] },
    ...more,
  });

/** A table that makes each write, and whose answers are lost: the AWS client repeats the write, whose condition then fails. */
export const repeating = ({ context }: { readonly context: OperatorContext }): OperatorContext => {
  const { store } = context;
  return {
    ...context,
    store: {
      create: async (...given) => !(await store.create(...given)),
      applyBlind: async (...given) => !(await store.applyBlind(...given)),
    },
  };
};
/** A table whose writes fail with this. */
export const failing = ({ context }: { readonly context: OperatorContext }, error: Error): OperatorContext => ({
  ...context,
  store: { create: () => Promise.reject(error), applyBlind: () => Promise.reject(error) },
});
export const denied = () => Object.assign(new Error('no'), { name: 'AccessDeniedException' });
export const arnOf = (round = 1, taskId = KEY.taskId) =>
  `${MACHINES.replace(':stateMachine:', ':execution:')}standard:${taskId}-r${round}`;

const TOOL: ToolFacts = { engine: 'standard', repeatable: false, timeout: 10 * MINUTE };
export const EXPRESS_TOOL = { engine: 'express', repeatable: true } as const;

/**
 * What an operator acts with, on the engine's ports in memory, a minute after T0.
 *
 * @param tool what is special about the only tool. Null: the server does not have it any more
 */
export function operatorOn(
  tasks: readonly TaskRecord[] = [],
  tool: Partial<ToolFacts> | null = {},
  over: Partial<OperatorContext> = {},
) {
  const clock = { now: T0 + MINUTE };
  const engine = memoryEngine(() => clock.now, 'operator');
  for (const one of tasks) engine.records.set(one);
  const audited: unknown[] = [];
  const slept: number[] = [];
  /** Events of executions by their ARNs, the oldest first. */
  const histories: Record<string, object[]> = {};
  const tools = new Map<string, ToolFacts>(tool === null ? [] : [['tool', { ...TOOL, ...tool }]]);
  const client = engine.executions.client();
  const states: States = {
    send: (command: never) => {
      const sent: unknown = command;
      if (!(sent instanceof GetExecutionHistoryCommand)) return client.send(command);
      return Promise.resolve({ events: (histories[sent.input.executionArn ?? ''] ?? []).toReversed() });
    },
  } as States;
  const nothing = fakeClient<never>(async () => ({}));
  const context: OperatorContext = {
    server: {
      ...{ name: 'Shop/Server', region: 'eu-west-1', table: TABLE, bucket: 'b', deadLetters: {}, logGroups: {} },
      ...{ machineArnPrefix: MACHINES, tools },
    },
    ...{ store: engine.store, workflow: engine.workflow, inputs: engine.inputs, results: engine.objects, states },
    reads: operatorReads(engine.dynamoDb, TABLE),
    events: operatorEvents(engine.dynamoDb, TABLE),
    journal: journalStore(engine.dynamoDb, TABLE),
    toolEngine: (name) => tools.get(name)?.engine,
    ...{ logs: nothing, sqs: nothing, log: () => {}, who: async () => 'ann' },
    audit: (act) => void audited.push(act),
    now: () => clock.now,
    async sleep(ms) {
      slept.push(ms);
      clock.now += ms;
    },
    ...over,
  };
  return { ...engine, context, clock, audited, slept, histories };
}
