import { onTestFinished, vi } from 'vitest';
import type { ModernCall } from '../../../../functions/mcp/context.ts';
import type { EventStream } from '../../../../functions/mcp/http/sse.ts';
import { subscriptionsListen } from '../../../../functions/mcp/methods/subscriptions-listen.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer, manifest } from './fake-server.ts';

export const T0 = 1_700_000_000_000;
export const task = {
  tool: 'optional',
  ttl: 3_600_000,
  timeout: 3_600_000,
  accepts: ['elicitation/create'],
  legacy: false,
};
export const idOf = (n: number) => (n < 10 ? String(n).repeat(36) : String(n).padStart(36, '0'));
const form = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
export const asked = JSON.stringify({ inputRequests: { sure: form } });

/** Two tasks of Ann that work, and a listener. Time passes only while the server sleeps; `at` says what happens when. */
export async function setup(at: Readonly<Record<number, () => unknown>> = {}, holdCap = 5_500) {
  let now = T0;
  const due = Object.entries(at).map(([ms, run]) => ({ ms: Number(ms), run }));
  const fake = fakeServer({
    manifest: { ...manifest, holdCap },
    now: () => now,
    async sleep(ms) {
      now += ms;
      while (due[0] !== undefined && now >= T0 + due[0].ms) await due.shift()?.run();
    },
  });
  for (const n of [1, 2]) await fake.server.store.create(create({ owner: 'ann', taskId: idOf(n) }, task, T0));
  const getMany = vi.spyOn(fake.server.store, 'getMany');
  const listen = (taskIds?: unknown) => {
    const call = {
      ...{ wire: modernWire(manifest.serverInfo), id: 7, method: 'subscriptions/listen', tasks: true, accepts: [] },
      ...{ principal: { kind: 'verified', key: 'ann', scopes: [] }, params: { notifications: { taskIds } } },
    } as unknown as ModernCall;
    return subscriptionsListen(call, fake.server) as Promise<EventStream>;
  };
  const change = (n: number, more: Partial<TaskRecord>) =>
    fake.records.set({ ...(fake.records.get(idOf(n)) as TaskRecord), ...more });
  const frames = async (...ids: number[]) => {
    const all: string[] = [];
    for await (const frame of (await listen(ids.map(idOf))).frames) if (frame !== '') all.push(frame);
    return all;
  };
  const messages = async (...ids: number[]) =>
    (await frames(...ids)).filter((frame) => frame.startsWith('data')).map((frame) => JSON.parse(frame.slice(6)));
  return {
    ...{ ...fake, getMany, listen, frames, messages },
    elapsed: () => now - T0,
    pass(ms: number) {
      now += ms;
    },
    change,
  };
}

/** A bound that records of 400 KB can reach, for the rest of this test. */
export function hundredth(): void {
  const { listenBytes } = limits;
  Object.assign(limits, { listenBytes: listenBytes / 100 });
  onTestFinished(() => void Object.assign(limits, { listenBytes }));
}
