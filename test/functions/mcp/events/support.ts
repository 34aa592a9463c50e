import type { DeliveryError } from '../../../../functions/events/ports.ts';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { lastSeen, serverEvents } from '../../../../functions/mcp/events/index.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { modernMessage } from '../../../support/clients.ts';
import { eventsInMemory, OWNER } from '../../events/support.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';
import { exchanged } from '../support/posted.ts';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const URL_ = 'https://receiver.example/hook?mcp_event_subscription=7a';
export const SEP = { capabilities: { extensions: { 'io.modelcontextprotocol/events': {} } } };
export const EVENTS_TOOLS = manifest.tools.map((tool) =>
  tool.name === 'required' ? { ...tool, scopes: ['ops'] } : tool,
);

/** A server with MCP Events, whose tasks, log and queue are in memory. @param summarized tools with `eventSummary` */
export function eventsServer(summarized: readonly string[] = []) {
  const memory = eventsInMemory();
  const { clock, items } = memory;
  const asked: { url: string; secret: string; subscriptionId: string }[] = [];
  const receiver = { refuses: undefined as DeliveryError | undefined, waits: Promise.resolve() };
  const seen = lastSeen(items, () => clock.now);
  const events = serverEvents({
    items,
    log: memory.writer(),
    loopback: false,
    async challenge(one) {
      asked.push(one);
      await receiver.waits;
      return receiver.refuses;
    },
    seen,
  });
  const all = EVENTS_TOOLS.map((tool) => (summarized.includes(tool.name) ? { ...tool, eventSummary: true } : tool));
  const tools: ServerContext['tools'] = new Map(
    all.map((entry) => [entry.name, { entry, validate: () => true, validateOutput: undefined }]),
  );
  const oauth = { ...manifest, auth: 'oauth' as const, tools: summarized.length > 0 ? all : EVENTS_TOOLS };
  const fake = fakeServer({ now: () => clock.now, manifest: oauth, tools, events });
  const caller = { key: OWNER, scopes: ['tasks', 'ops'] };

  /** One request of 2026-07-28. */
  async function call(method: string, params: object = {}, options = {}, by: object = caller) {
    const { body, headers } = modernMessage(method, params as Record<string, unknown>, options);
    return exchanged(fake.server, body, headers, undefined, { caller: by } as never);
  }
  const subscription = (more: object = {}, delivery: object = {}) => ({
    name: 'task.finished',
    arguments: {},
    delivery: { mode: 'webhook', url: URL_, secret: SECRET, ...delivery },
    ...more,
  });
  /** A task of the caller. */
  function task(taskId: string, more: Partial<TaskRecord> = {}): TaskRecord {
    const key = { owner: OWNER, taskId: taskId.padEnd(36, '0') };
    const options = { tool: 'optional', ttl: 3_600_000, timeout: 600_000, accepts: [], legacy: false };
    const record = { ...create(key, options, clock.now), ...more };
    fake.records.set(record);
    return record;
  }
  return { ...fake, ...memory, asked, receiver, caller, call, subscription, task };
}
