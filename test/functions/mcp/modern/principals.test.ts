import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { EventStream } from '../../../../functions/mcp/http/sse.ts';
import { helperTools } from '../../../../functions/mcp/methods/helper-tools.ts';
import { methods } from '../../../../functions/mcp/methods/index.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { create } from '../../../../functions/tasks/transitions.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const NOW = 1_700_000_000_000;
const taskId = '0'.repeat(36);
const ann: Principal = { kind: 'verified', key: 'ann' };
const ben: Principal = { kind: 'verified', key: 'ben' };
const strangers: Principal[] = [ben, { kind: 'anonymous' }, { kind: 'anonymous', session: 'ann' }];

/** A server with one task, of Ann. */
function server() {
  const fake = fakeServer();
  const task = { tool: 'optional', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
  fake.records.set(taskId, create({ owner: 'ann', taskId }, task, NOW));
  const { store } = fake.server;
  store.getMany = async (keys) => (await Promise.all(keys.map((key) => store.get(key)))).flatMap((got) => got ?? []);
  return fake;
}

function callOf(principal: Principal, method: string, params: object): Call {
  const wire = modernWire(manifest.serverInfo);
  return { id: 1, method, params, principal, wire, tasks: true, accepts: [] } as unknown as Call;
}

/** What comes of a call, also if that is an error. */
async function outcome(done: Promise<object> | undefined): Promise<unknown> {
  try {
    const result = await done;
    if (!(result instanceof EventStream)) return result;
    const frames: string[] = [];
    for await (const frame of result.frames(new AbortController().signal)) if (frames.push(frame) === 1) break;
    return frames.join('');
  } catch (error) {
    return String(error);
  }
}

describe('a task of another owner', () => {
  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    'is as unknown as one that is not there: %s (E-15, E-30, F-15)',
    async (method) => {
      const { server: at, did, records } = server();
      const call = (principal: Principal, id: string) => {
        const params = { taskId: id, inputResponses: { 'r1.a': {} } };
        return outcome(methods.modern.get(method)?.(callOf(principal, method, params), at));
      };
      for (const stranger of strangers) {
        expect(await call(stranger, taskId)).toBe('TaskNotFound: Task not found');
        expect(await call(stranger, taskId)).toEqual(await call(stranger, '1'.repeat(36)));
      }
      expect(did).not.toContain('apply');
      expect(records.get(taskId)?.status).toBe('working');
      expect(await call(ann, taskId)).toMatchObject({ resultType: 'complete' });
    },
  );

  test('is not acknowledged, and its owner is notified (E-25, E-30)', async () => {
    const listen = (principal: Principal) => {
      const params = { notifications: { taskIds: [taskId] } };
      return outcome(
        methods.modern.get('subscriptions/listen')?.(callOf(principal, 'listen', params), server().server),
      );
    };
    for (const stranger of strangers) expect(await listen(stranger)).toContain('"notifications":{"taskIds":[]}');
    expect(await listen(ann)).toContain(`"notifications":{"taskIds":["${taskId}"]}`);
  });

  test.each([...helperTools.keys()])('cannot be had by a helper tool either: %s (A-17)', async (name) => {
    const { server: at, did, records } = server();
    const call = (principal: Principal, id: string) => {
      const params = { name, arguments: { taskId: id, waitSeconds: 0 } };
      return outcome(helperTools.get(name)?.call(callOf(principal, 'tools/call', params), at));
    };
    for (const stranger of strangers) {
      const foreign = await call(stranger, taskId);
      expect(foreign).toEqual(await call(stranger, '1'.repeat(36)));
      expect(JSON.stringify(foreign)).not.toMatch(/working|cancelled/);
    }
    expect(did).not.toContain('apply');
    expect(records.get(taskId)?.status).toBe('working');
    expect(await call(ann, taskId)).toMatchObject({ structuredContent: { taskId } });
  });
});
