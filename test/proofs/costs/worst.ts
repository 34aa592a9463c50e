import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../../functions/tasks/limits.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { legacySession, modernMessage, modernRequest, POSTED, poll, runTask } from '../../support/clients.ts';
import { type Cost, LINES, meterOf, type Reads } from './meter.ts';
import { statesOf } from './states.ts';

const OPEN = 100;
const FINISHED = 50;
const AT_ONCE = 5;
/** Results as large as a plain function may return; together with the frames more than one stream sends. */
const LARGE = 240_000;
const ASKED = 100_000;
const FORM = { requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } };
/** A request that is held for the second of the app reads at its begin and at its end. */
const HELD = 2;
const RANDOM = 'abcdefgh'.repeat(5).slice(0, 33);

/**
 * The most that a request of each method can cost, by method and revision as in docs/limits.md: each in the state of the
 * table that makes it most expensive. `logged` counts the bytes that the endpoint has logged so far.
 */
export async function worstCosts(cloud: Cloud, logged: () => number): Promise<Map<string, Cost>> {
  const url = `${cloud.url}/mcp`;
  const costs = new Map<string, Cost>();

  const add = meterOf(cloud, logged, costs);
  const modern = (method: string, params: Record<string, unknown> = {}, capabilities?: object, reads?: number) =>
    add(`${method}, 2026-07-28`, modernMessage(method, params, capabilities && { capabilities }), reads);
  const session = await legacySession(url);
  const states = statesOf(cloud);
  let id = 1_000;
  const legacy = (method: string, params: object = {}, from = session, reads: Reads = 1) =>
    add(`${method}, 2025-11-25`, { body: { jsonrpc: '2.0', id: id++, method, params }, headers: from.headers }, reads);
  const called = async (name: string, args: object, from = session): Promise<string> =>
    (await from.request('tools/call', { name, arguments: args, task: {} })).body.result.task.taskId;
  const until = async (taskId: string, is: (status: string) => boolean, from = session): Promise<void> => {
    while (!is((await from.request('tasks/get', { taskId })).body.result.status)) await sleep(50);
  };
  /** A stream that asks notes it: the row is of one that did. */
  const mustAsk = async (answer: Promise<string>): Promise<void> => {
    const text = await answer;
    if (!text.includes('elicitation/create')) throw new Error(`Nothing is asked: ${text.slice(0, 500)}`);
  };
  const listen = (taskIds: readonly string[], reads?: number) =>
    modern('subscriptions/listen', { notifications: { taskIds } }, undefined, reads);

  // Every reader of a task: large results, of a function that stores nothing.
  const taskIds: string[] = await some(limits.listenTasks, async () => {
    const task = await runTask(url, 'big', { bytes: LARGE });
    if (task.status !== 'completed') throw new Error(JSON.stringify(task).slice(0, 500));
    return task.taskId as string;
  });
  const [finished = ''] = taskIds;
  await listen(taskIds);
  const unknown = Array.from({ length: limits.listenTasks }, (_, i) => `${RANDOM}${String(i).padStart(3, '0')}`);
  await listen(unknown);
  await modern('tasks/get', { taskId: finished });
  await modern('tasks/get', { taskId: unknown[0] });
  await modern('tasks/cancel', { taskId: finished });
  await modern('tools/call', { name: 'get_task_result', arguments: { taskId: finished } });
  await modern('tools/call', { name: 'big', arguments: { bytes: LARGE } }, {});

  // Tasks that work, each with a report.
  const crowd = states.crowd();
  const start = async (name: string): Promise<string> =>
    (await modernRequest(url, 'tools/call', { name, arguments: {} })).body.result.taskId;
  const working = await some(limits.listenTasks, () => start('echo'));
  await states.report(working);
  await listen(working, HELD);
  await modern('tasks/get', { taskId: working[0] });
  const busy = await legacySession(url);
  const waiting = await some(FINISHED, () => called('echo', {}, busy));
  await states.report(waiting);
  await legacy('tasks/list', {}, busy);
  await legacy('tasks/get', { taskId: waiting[0] }, busy);
  await states.grow([...working, ...waiting]);
  await listen(working, HELD);
  await modern('tasks/get', { taskId: working[0] });
  await legacy('tasks/list', {}, busy);
  await legacy('tasks/get', { taskId: waiting[0] }, busy);
  /** Resumes a `tasks/result` from its begin. */
  const resumedFrom = async (taskId: string) => {
    const body = { jsonrpc: '2.0', id: 'held', method: 'tasks/result', params: { taskId } };
    const sent = { method: 'POST', headers: { ...POSTED, ...busy.headers }, body: JSON.stringify(body) };
    const [, eventId] = /^id: (\S+)$/m.exec(await (await fetch(url, sent)).text()) ?? [];
    return { body: undefined, headers: { ...busy.headers, accept: 'text/event-stream', 'last-event-id': eventId } };
  };
  const [heldTask, heldAsk] = [await called('big', { bytes: LARGE }, busy), await called('ask', {}, busy)];
  const [resumed, resumedAsk] = [await resumedFrom(heldTask), await resumedFrom(heldAsk)];
  const plain = { jsonrpc: '2.0', id: 'plain', method: 'tools/call', params: { name: 'echo', arguments: {} } };
  // A client must not give an id twice, and may.
  const waitingCalls: Response[] = [];
  for (let calls = 0; calls < 2; calls++) {
    const sent = { method: 'POST', headers: { ...POSTED, ...busy.headers }, body: JSON.stringify(plain) };
    // Its stream begins once its task is stored.
    waitingCalls.push(await fetch(url, sent));
  }
  await sleep(LINES);
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'plain' } };
  await add('notifications/cancelled, 2025-11-25', { body: cancelled, headers: busy.headers });
  for (const waiting of waitingCalls) await waiting.text();
  crowd.free();
  await until(heldTask, (status) => status === 'completed', busy);
  await add('GET that resumes a call, 2025-11-25', resumed, 1, 'GET');
  await until(heldAsk, (status) => status === 'input_required', busy);
  await states.fillNotes();
  await mustAsk(add('GET that resumes a call, 2025-11-25', resumedAsk, 1, 'GET'));

  // Tasks that were answered, and whose next round no request has started.
  const crashed = await some(limits.listenTasks, () => start('ask'));
  for (const taskId of crashed) await poll(url, taskId, ({ status }) => status === 'input_required');
  await states.crash(crashed);
  await modern('tasks/get', { taskId: crashed.at(-1) });
  await modern('tools/call', { name: 'get_task_result', arguments: { taskId: crashed.at(-2) } });
  await listen(crashed.slice(0, -2), HELD);
  const lost = await some(3, () => called('ask', {}, busy));
  for (const taskId of lost) await until(taskId, (status) => status === 'input_required', busy);
  await states.crash(lost);
  await legacy('tasks/get', { taskId: lost[0] }, busy);
  await legacy('tasks/result', { taskId: lost[1] }, busy, 'count');
  await legacy('tools/call', { name: 'get_task_result', arguments: { taskId: lost[2] } }, busy);

  // Questions with large input, and the largest answer.
  const asks = async (): Promise<string> => {
    const text = 'x'.repeat(150_000);
    const { body } = await modernRequest(url, 'tools/call', { name: 'ask', arguments: { text } });
    await poll(url, body.result.taskId, ({ status }) => status === 'input_required');
    return body.result.taskId;
  };
  const asking = await asks();
  await modern('tasks/get', { taskId: asking });
  await modern('tools/call', { name: 'ask', arguments: { text: 'x'.repeat(150_000) } });
  const content = { ok: true, note: 'x'.repeat(20_000) };
  await modern('tasks/update', { taskId: asking, inputResponses: { 'r1.confirm': { action: 'accept', content } } });
  await modern('tasks/cancel', { taskId: await asks() });

  // One owner: its finished tasks, then as many open ones as it may have, then the notes of its session.
  const own = await some(FINISHED, () => called('big', { bytes: LARGE }));
  for (const taskId of own) await until(taskId, (status) => status === 'completed');
  await legacy('tasks/list');
  await legacy('tasks/result', { taskId: own[0] });
  await legacy('tools/call', { name: 'echo', arguments: {}, task: {} });
  const askers: string[] = [];
  for (let open = 0; open < OPEN; open++) askers.push(await called('ask', {}));
  await states.asking(askers);
  await states.grow(askers);
  await legacy('tools/call', { name: 'ask', arguments: {}, task: {} });
  await legacy('tasks/list');
  await session.request('logging/setLevel', { level: 'debug' });
  await states.fillNotes();
  const { tasks } = (await session.request('tasks/list')).body.result;
  const [open, other] = tasks.filter(({ status }: { status: string }) => status === 'input_required');
  await mustAsk(legacy('tasks/result', { taskId: other.taskId }));
  const again = { jsonrpc: '2.0', id: 'again', method: 'tasks/result', params: { taskId: other.taskId } };
  await mustAsk(add('repeated tasks/result, 2025-11-25', { body: again, headers: session.headers }));
  await legacy('tasks/get', { taskId: open.taskId });
  await legacy('tasks/get', { taskId: own[0] });
  await legacy('logging/setLevel', { level: 'info' });
  await legacy('tasks/cancel', { taskId: open.taskId });
  const inputRequests = { confirm: { method: 'elicitation/create', params: { message: 'x'.repeat(ASKED), ...FORM } } };
  const json = JSON.stringify({ inputRequests });
  const plainAsk = { ...plain, params: { name: 'returns', arguments: { json } } };
  // It looks for a slot at its begin, and reads the notes when it asks.
  await mustAsk(add('tools/call that asks, 2025-11-25', { body: plainAsk, headers: session.headers }, HELD));
  await legacy('tasks/cancel', { taskId: own[0] });

  // The stream of a session with as many questions as one stream reads, each of them large.
  const large = await legacySession(url);
  const asked = await some(limits.sessionStream.tasks, () => called('returns', { json }, large));
  for (const taskId of asked) await until(taskId, (status) => status === 'input_required', large);
  await sleep(limits.sessionStream.grace);
  await states.fillNotes();
  const listener = { body: undefined, headers: { ...large.headers, accept: 'text/event-stream' } };
  const text = await add('GET, 2025-11-25', listener, HELD, 'GET');
  // The client comes back as if it had received none of these questions.
  const [, eventId] = /^id: (\S+)$/m.exec(text) ?? [];
  const back = { ...listener, headers: { ...listener.headers, 'last-event-id': eventId } };
  await add('GET with an event id, 2025-11-25', back, 1, 'GET');
  // Many small questions: the event id of each repeats the marks of all before it.
  const crowded = await legacySession(url);
  const small = { method: 'elicitation/create', params: { message: '', ...FORM } };
  const smalls = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`q${n}`, small]));
  const many = JSON.stringify({ inputRequests: smalls });
  const askMany = () => called('returns', { json: many }, crowded);
  const askedMany = await some(limits.sessionStream.tasks, askMany);
  for (const taskId of askedMany) await until(taskId, (status) => status === 'input_required', crowded);
  await sleep(limits.sessionStream.grace);
  let from: object = { ...crowded.headers, accept: 'text/event-stream' };
  for (const row of ['GET', ...Array(3).fill('GET with an event id')]) {
    const text = await add(
      `${row}, 2025-11-25`,
      { body: undefined, headers: { ...from } },
      row === 'GET' ? HELD : 1,
      'GET',
    );
    from = {
      ...from,
      'last-event-id': text
        .match(/^id: \S+$/gm)
        ?.at(-1)
        ?.slice(4),
    };
  }
  const [, questionId] = /"id":"([^"]+)","method":"elicitation/.exec(text) ?? [];
  const answer = { jsonrpc: '2.0', id: questionId, result: { action: 'accept', content } };
  await add('answers to questions, 2025-11-25', { body: answer, headers: large.headers });

  // These requests read no task.
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  await add('initialize, 2025-11-25', { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params }, headers: {} });
  for (const method of ['ping', 'tools/list']) await legacy(method);
  for (const method of ['server/discover', 'tools/list']) await modern(method);
  return costs;
}

/** Does something `count` times, a few at once. */
async function some<T>(count: number, run: () => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  const one = async () => {
    while (done.length < count) done.push(await run());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return done.slice(0, count);
}
