import type { Call } from '../../../../functions/mcp/context.ts';
import type { ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { createRefusedTask, createTask, startTask } from '../../../../functions/mcp/methods/create-task.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { fakeServer, manifest } from './fake-server.ts';

export const NOW = 1_700_000_000_000;
export const FORM = 'elicitation/create';
const user = { kind: 'verified', key: 'user' } as const;
const optional = manifest.tools.find(({ name }) => name === 'optional') as ToolEntry;

export interface Asked {
  readonly era?: 'legacy' | 'modern';
  readonly key?: string;
  readonly accepts?: readonly string[];
  readonly principal?: Call['principal'];
  readonly task?: object;
  readonly tool?: Partial<ToolEntry>;
  readonly args?: string;
}

/** A server whose clock the test sets, and calls of one caller. */
export function creatingServer() {
  const at = { now: NOW };
  const fake = fakeServer({ now: () => at.now });
  const { start } = fake.server.workflow;
  const inputs: Record<string, unknown>[] = [];
  fake.server.workflow.start = (record, input) => {
    inputs.push(JSON.parse(input));
    return start(record, input);
  };
  const callOf = ({ era = 'modern', key, accepts = [FORM], principal = user, task }: Asked): Call =>
    ({
      ...{ wire: era === 'legacy' ? legacyWire : modernWire(manifest.serverInfo), accepts, principal },
      params: {
        name: 'optional',
        task,
        _meta: { ...(key !== undefined && { 'mcp-task-server/idempotencyKey': key }) },
      },
      ...{ method: 'tools/call', request: { headers: {} } },
    }) as unknown as Call;
  const toolOf = ({ tool = {} }: Asked): ToolEntry => ({ ...optional, ...tool });
  return {
    ...{ ...fake, at, inputs },
    start: (asked: Asked = {}) => startTask(callOf(asked), fake.server, toolOf(asked), asked.args ?? '{}'),
    create: (asked: Asked = {}) => createTask(callOf(asked), fake.server, toolOf(asked), asked.args ?? '{}'),
    refuse: (asked: Asked = {}, problem = 'no') => createRefusedTask(callOf(asked), fake.server, optional, problem),
    only: () => fake.records.all()[0] as TaskRecord,
    change: (more: Partial<TaskRecord>) => {
      for (const record of fake.records.all()) fake.records.set({ ...record, ...more });
    },
  };
}
