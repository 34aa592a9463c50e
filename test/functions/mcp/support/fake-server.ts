import { setImmediate } from 'node:timers/promises';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { signer } from '../../../../functions/mcp/identity/signing.ts';
import type { Manifest, ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { pollLimit } from '../../../../functions/mcp/read/poll-limit.ts';
import { auditLine } from '../../../../functions/tasks/audit.ts';
import { logEvent } from '../../../../functions/tasks/log.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { memoryEngine } from '../../../support/engine/memory.ts';

const entry = (name: string, more: Partial<ToolEntry> = {}): ToolEntry => ({
  name,
  description: 'd',
  inputSchema: { type: 'object' },
  taskSupport: 'forbidden',
  timeout: 60_000,
  ...more,
});

export const manifest: Manifest = {
  serverInfo: { name: 'fake', version: '1' },
  auth: 'anonymous',
  maxTtl: 86_400_000,
  allowedOrigins: ['https://app.example', 'http://localhost:*'],
  inlineWindow: 25_000,
  holdCap: 50_000,
  helperTools: false,
  questionStream: true,
  maxOpenTasks: 100,
  maxStreams: 200,
  tools: [
    entry('plain'),
    entry('picky'),
    entry('optional', { taskSupport: 'optional', engine: 'standard', title: 'T', outputSchema: { type: 'array' } }),
    entry('required', { taskSupport: 'required', engine: 'standard', pollInterval: 3_000 }),
    entry('marked', { headers: [{ header: 'Region', path: ['where', 'region'], type: 'string' }] }),
  ],
};

/** A ServerContext on the engine's ports in memory. The calls of its ports and of tools are in `did`. */
export function fakeServer(over: Partial<ServerContext> = {}) {
  const now = over.now ?? (() => START);
  const { did, records, objects, executions, table, ...ports } = memoryEngine(now);
  const audited: string[] = [];
  const picky = Object.assign(() => false, { errors: [{ instancePath: '/n', message: 'must be number' }] });
  const tools: ServerContext['tools'] = new Map(
    manifest.tools.map((tool) => [
      tool.name,
      { entry: tool, validate: tool.name === 'picky' ? picky : () => true, validateOutput: undefined },
    ]),
  );
  const server: ServerContext = {
    manifest,
    tools,
    toolEngine: (tool) => (over.tools ?? tools).get(tool)?.entry.engine,
    store: ports.store,
    audit: (action, facts) => void audited.push(auditLine(action, facts)),
    workflow: ports.workflow,
    inputs: ports.inputs,
    results: objects,
    currentState: async () => undefined,
    async invoke() {
      did.push('invoke');
      return { text: '"hi"' };
    },
    log: logEvent,
    signer: signer(async () => 'a key'),
    files: {
      presign: async (key) => `https://s3.example/${key}`,
      read: async () => ({ bytes: Buffer.from('hi'), type: 'text/plain' }),
      listFiles: async () => ({ files: [] }),
    },
    url: 'https://server.example',
    pollLimit: pollLimit(now),
    now,
    sleep: async () => {},
    ...over,
  };
  return { server, did, records, objects, executions, table, audited };
}

export const START = 1_700_000_000_000;
/** The questions of a client that can be asked everything. */
export const ALL_KINDS = ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'];

/** The same with a clock that runs only while the server sleeps. */
export function clockedServer(over: Partial<ServerContext> = {}) {
  const clock = { now: START };
  let due: { at: number; run: () => unknown }[] = [];
  const fake = fakeServer({
    now: () => clock.now,
    async sleep(ms) {
      await setImmediate();
      const until = clock.now + ms;
      for (const event of due.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)) {
        due = due.filter((other) => other !== event);
        clock.now = Math.max(clock.now, event.at);
        await event.run();
      }
      clock.now = until;
    },
    ...over,
  });
  return {
    ...{ ...fake, clock },
    /** What happens so many ms after the start. */
    at: (ms: number, run: () => unknown) => void due.push({ at: START + ms, run }),
    /** The record as something else changes it now. */
    change(taskId: string, set: Partial<TaskRecord>) {
      const record = fake.records.get(taskId);
      if (record !== undefined) fake.records.set({ ...record, updatedAt: clock.now, ...set });
    },
    elapsed: () => clock.now - START,
  };
}
