import { expect, test } from 'vitest';
import type { Call } from '../../../functions/mcp/context.ts';
import { legacy } from '../../../functions/mcp/legacy.ts';
import { helperTools } from '../../../functions/mcp/methods/helper-tools.ts';
import { loggingSetLevel } from '../../../functions/mcp/methods/logging-set-level.ts';
import { tasksResult } from '../../../functions/mcp/methods/tasks-result.ts';
import { toolsCall } from '../../../functions/mcp/methods/tools-call.ts';
import { holdFor, sealHeld } from '../../../functions/mcp/stream/held-call.ts';
import { sealState } from '../../../functions/mcp/stream/input-required.ts';
import { legacyWire } from '../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../functions/mcp/wire/2026-07-28.ts';
import type { Principal } from '../../../functions/tasks/ids.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { measured } from '../../../functions/tasks/results/result-ref.ts';
import { creatingServer } from './support/creating-server.ts';
import { fakeServer, manifest } from './support/fake-server.ts';

/** Requests that a client repeats in a loop, each of which is dear. */
const user: Principal = { kind: 'verified', key: 'user' };
const call = (params: object, more: object = {}) =>
  ({
    ...{ wire: legacyWire, id: 1, method: 'm', tasks: true, accepts: [], principal: user, params },
    ...{ request: { headers: {} }, replyHeaders: {}, version: '2025-11-25', session: 's', ...more },
  }) as unknown as Call;

/** A finished task, with a result of 1 MB in S3. */
async function finished() {
  const made = creatingServer();
  const text = JSON.stringify('x'.repeat(1_000_000));
  let reads = 0;
  const get = async () => {
    reads++;
    return text;
  };
  Object.assign(made.server, { results: { get } });
  await made.create({ era: 'legacy', task: {} });
  made.change({ status: 'completed', isError: false, result: JSON.stringify({ resultRef: measured(text) }) });
  return { ...made, reads: () => reads };
}

test('each change of the level of a session writes all its notes: in a loop it is refused (E-29)', async () => {
  const { server } = fakeServer();
  const set = (n: number) => loggingSetLevel(call({ level: n % 2 ? 'debug' : 'info' }), server);
  for (let n = 0; n < 1 + limits.lists.most; n++) await set(n);
  await expect(set(0)).rejects.toMatchObject({ httpStatus: 429, retryAfter: 5 });
});

test('the level that a session has already is not written again (B-12)', async () => {
  const { server } = fakeServer();
  const changed: unknown[] = [];
  const { updateSession } = server.store;
  server.store.updateSession = (session, change, expires) =>
    updateSession(
      session,
      (notes) => {
        const next = change(notes);
        changed.push(next);
        return next;
      },
      expires,
    );
  for (let n = 0; n < 2; n++) expect(await loggingSetLevel(call({ level: 'info' }), server)).toEqual({});
  expect(changed).toEqual([expect.objectContaining({ logLevel: 'info' }), undefined]);
});

test('tasks/result of one large result in a loop is refused, and reads nothing more (C-16, E-29)', async () => {
  const { server, only, reads } = await finished();
  const ask = () => tasksResult(call({ taskId: only().taskId }), server);
  for (let n = 0; n < limits.polls.burst; n++) await ask();
  await expect(ask()).rejects.toMatchObject({ httpStatus: 429 });
  expect(reads()).toBe(limits.polls.burst);
});

test('a call that is resumed by one event id in a loop is refused (C-19, E-29)', async () => {
  const { server, only } = await finished();
  const asked = call({ taskId: only().taskId });
  const eventId = await sealHeld(asked, holdFor(asked, only(), 'result', server), server);
  const session = { version: '2025-11-25', key: 's', accepts: [], expires: 9_999_999_999 };
  const request = { method: 'GET', body: '', headers: { 'last-event-id': eventId, accept: 'text/event-stream' } };
  const resume = () => legacy.stream?.({ request, session, principal: user }, server);
  for (let n = 0; n < limits.polls.burst; n++) expect((await resume())?.status).toBe(200);
  await expect(resume()).rejects.toMatchObject({ httpStatus: 429 });
});

test('cancel_task of one large result in a loop is refused, and reads nothing more (E-29)', async () => {
  const { server, only, reads } = await finished();
  const cancel = async () =>
    helperTools.get('cancel_task')?.call(call({ arguments: { taskId: only().taskId } }), server);
  for (let n = 0; n < limits.polls.burst; n++) await cancel();
  await expect(cancel()).rejects.toMatchObject({ httpStatus: 429 });
  expect(reads()).toBe(limits.polls.burst);
});

test('a call that repeats one state in a loop is refused, and reads nothing more (D-20, E-29)', async () => {
  const { server, only, reads } = await finished();
  const modern = { wire: modernWire(manifest.serverInfo), method: 'tools/call', tasks: false };
  const params = { name: 'optional', arguments: {} };
  const requestState = await sealState(call(params, modern), { taskId: only().taskId }, server);
  const again = async () => toolsCall(call({ ...params, requestState }, modern), server);
  for (let n = 0; n < limits.polls.burst; n++) await again();
  await expect(again()).rejects.toMatchObject({ httpStatus: 429 });
  expect(reads()).toBe(limits.polls.burst);
});
