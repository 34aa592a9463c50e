import { setImmediate } from 'node:timers/promises';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { signer } from '../../../../functions/mcp/identity/signing.ts';
import type { Manifest, ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { pollLimit } from '../../../../functions/mcp/read/poll-limit.ts';
import { machineOf } from '../../../../functions/mcp/wiring.ts';
import { auditLine } from '../../../../functions/tasks/audit.ts';
import { logEvent } from '../../../../functions/tasks/log.ts';
import type { TaskKey, TaskRecord } from '../../../../functions/tasks/record.ts';
import type { SessionNotes, SessionStore } from '../../../../functions/tasks/table/session-notes.ts';
import type { Change } from '../../../../functions/tasks/transitions/change.ts';
import { applied } from '../../tasks/applied.ts';
import { noInputs } from '../../tasks/s3/fake-inputs.ts';

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
    entry('optional', { taskSupport: 'optional', machine: 'optional', title: 'T', outputSchema: { type: 'array' } }),
    entry('required', { taskSupport: 'required', machine: 'required', pollInterval: 3_000 }),
    entry('marked', { headers: [{ header: 'Region', path: ['where', 'region'], type: 'string' }] }),
  ],
};

/** A ServerContext of plain functions: everything it was asked to do is in `did`. Nothing of AWS in it. */
export function fakeServer(over: Partial<ServerContext> = {}) {
  const records = new Map<string, TaskRecord>();
  const did: string[] = [];
  const audited: string[] = [];
  const picky = Object.assign(() => false, { errors: [{ instancePath: '/n', message: 'must be number' }] });
  function write({ taskId }: TaskKey, change: Change): TaskRecord | undefined {
    const record = records.get(taskId);
    const changed = record && applied(record, change);
    if (changed !== undefined) records.set(taskId, changed);
    return changed;
  }
  const tools: ServerContext['tools'] = new Map(
    manifest.tools.map((tool) => [
      tool.name,
      { entry: tool, validate: tool.name === 'picky' ? picky : () => true, validateOutput: undefined },
    ]),
  );
  const server: ServerContext = {
    manifest,
    tools,
    machineOf: machineOf(over.tools ?? tools),
    store: {
      async create(record) {
        did.push('create');
        if (records.has(record.taskId)) return false;
        records.set(record.taskId, record);
        return true;
      },
      async get({ owner, taskId }) {
        did.push('get');
        const record = records.get(taskId);
        return record?.owner === owner ? record : undefined;
      },
      async list(owner) {
        return { tasks: [...records.values()].filter((record) => record.owner === owner) };
      },
      async apply(key, change) {
        did.push('apply');
        return write(key, change);
      },
      getMany: async (keys) => keys.flatMap(({ taskId }) => records.get(taskId) ?? []),
      readMany(keys) {
        return this.getMany(keys);
      },
      withReports: async (records) => [...records],
      readStatus: async () => undefined,
      postpone: async () => {},
      report: async () => true,
      remember: async () => true,
      recall: async () => undefined,
      ...fakeSessions(),
      takeSlot: async () => true,
      slotFreed: async () => {},
      openStream: async (owner) => ({ owner, window: 0 }),
      closeStream: async () => {},
      countRefused: async () => true,
      // No deed of its own: what is written so, readers see anyway.
      async applyBlind(key, change) {
        did.push('applyBlind');
        return write(key, change) !== undefined;
      },
    },
    audit: (action, facts) => void audited.push(auditLine(action, facts)),
    workflow: {
      async start() {
        did.push('start');
      },
      async stop() {
        did.push('stop');
      },
    },
    inputs: noInputs(),
    results: {
      async get() {
        throw new Error('nothing is stored');
      },
    },
    currentState: async () => undefined,
    async invoke() {
      did.push('invoke');
      return { text: '"hi"' };
    },
    log: logEvent,
    signer: signer(async () => 'a key'),
    pollLimit: pollLimit(over.now ?? (() => 1_700_000_000_000)),
    now: () => 1_700_000_000_000,
    sleep: async () => {},
    ...over,
  };
  return { server, did, records, audited };
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
      if (record !== undefined) fake.records.set(taskId, { ...record, updatedAt: clock.now, ...set });
    },
    elapsed: () => clock.now - START,
  };
}

/** What is known of sessions, as the table would keep it. */
function fakeSessions(): SessionStore {
  const sessions = new Map<string, SessionNotes>();
  const notesOf = (session: string): SessionNotes => sessions.get(session) ?? { waiting: {}, asked: {} };
  return {
    session: async (session) => notesOf(session),
    async updateSession(session, change) {
      const changed = change(notesOf(session)) ?? notesOf(session);
      sessions.set(session, changed);
      return changed;
    },
  };
}
