import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, ended, legacySession, modernMessage, openStream, post } from '../../support/clients.ts';
import { type Units, unitsSince } from './meter.ts';
import type { UnitsSetup } from './setup.ts';

export interface Row extends Units {
  readonly request: string;
  readonly state: string;
}

const KEY = 'mcp-task-server/idempotencyKey';
const LARGE = 100_000;
const PAGE = 50;
/** What a task pays for its steps, each with a result of 100 bytes. All reads are by the heartbeat, one a second. */
export async function measureSteps({ cloud, token }: UnitsSetup, counts: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const steps of counts) {
    const mark = cloud.calls.mark();
    const { body, headers } = modernMessage('tools/call', { name: 'steps', arguments: { steps } });
    const authorization = `Bearer ${token('ann')}`;
    const { taskId } = (await post(`${cloud.url}/mcp`, body, { ...headers, authorization })).body.result;
    await succeeded(cloud, taskId);
    rows.push({ request: 'the run of a tool in steps', state: `${steps} steps`, ...unitsSince(cloud, mark, 'steps') });
  }
  return rows;
}

const MOST: Units = {
  read: Number.POSITIVE_INFINITY,
  write: Number.POSITIVE_INFINITY,
  index: Number.POSITIVE_INFINITY,
};
const total = ({ read, write, index }: Units): number => read + write + index;
const lower = (a: Units, b: Units): Units => (total(a) < total(b) ? a : b);

async function succeeded(cloud: UnitsSetup['cloud'], taskId: string): Promise<void> {
  const ended = () => cloud.stepFunctions.executions().find(({ name }) => name === `${taskId}-r1`)?.status;
  while (ended() !== 'SUCCEEDED') await sleep(50);
}

/** What each kind of request costs, one after the other, in the states of the table that make a difference. */
export async function measureUnits(setup: UnitsSetup, openTasks: number): Promise<Row[]> {
  const { cloud } = setup;
  const url = `${cloud.url}/mcp`;
  const rows: Row[] = [];

  const clientOf = (sub: string) => {
    const authorization = `Bearer ${setup.token(sub)}`;
    const request = (method: string, params: Record<string, unknown> = {}, capabilities?: object) => {
      const { body, headers } = modernMessage(method, params, capabilities && { capabilities });
      const _meta = { ...(params._meta as object | undefined), ...body.params._meta };
      return post(url, { ...body, params: { ...body.params, _meta } }, { ...headers, authorization });
    };
    const call = async (name: string, args: object = {}, _meta: object = {}) => {
      const { body } = await request('tools/call', { name, arguments: args, _meta });
      if (body.result?.taskId === undefined) throw new Error(JSON.stringify(body));
      return body.result.taskId as string;
    };
    const until = async (taskId: string, is: (task: Answer['body']) => boolean): Promise<void> => {
      for (;;) {
        const { body } = await request('tasks/get', { taskId });
        if (is(body.result)) return;
        await sleep(100);
      }
    };
    const finished = async (args: object) => {
      const taskId = await call('echo', args);
      await until(taskId, ended);
      return taskId;
    };
    const asking = async (args: object) => {
      const taskId = await call('ask', args);
      await until(taskId, ({ status }) => status === 'input_required');
      return taskId;
    };
    const listen = (taskIds: readonly string[]) => {
      const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds } });
      return openStream(url, body, { ...headers, authorization });
    };
    const session = () => legacySession(url, undefined, undefined, { authorization });
    return { request, call, until, finished, asking, listen, session };
  };

  /** Runs a request whose answer must pass `fits`, and adds the units that the endpoint consumed. */
  async function row(
    request: string,
    state: string,
    run: () => Promise<Answer>,
    fits: (body: Answer['body']) => boolean,
  ) {
    const mark = cloud.calls.mark();
    const { body } = await run();
    const units = unitsSince(cloud, mark, 'endpoint');
    if (!fits(body)) throw new Error(`${request} (${state}) got ${JSON.stringify(body).slice(0, 500)}`);
    rows.push({ request, state, ...units });
  }
  const add = (request: string, state: string, units: Units) => rows.push({ request, state, ...units });
  const done = ({ result }: Answer['body']) => result !== undefined;
  const refusedFor = (reason: string) => (body: Answer['body']) => body.error?.data?.reason === reason;

  const ann = clientOf('ann');
  const legacy = await ann.session();
  await ann.finished({});

  // One task from its call to its end, without polls. On a busy machine the AWS SDK may repeat a call that took too long.
  const simple = { created: MOST, end: MOST, all: MOST };
  for (let times = 0; times < 3; times++) {
    const mark = cloud.calls.mark();
    const taskId = await ann.call('echo');
    simple.created = lower(simple.created, unitsSince(cloud, mark, 'endpoint'));
    await succeeded(cloud, taskId);
    simple.end = lower(simple.end, unitsSince(cloud, mark, 'others'));
    simple.all = lower(simple.all, unitsSince(cloud, mark, 'all'));
  }
  add('tools/call, a new task', 'few open tasks', simple.created);
  add('its run: what the workflow writes', 'small result', simple.end);
  add('a simple task altogether, without polls', 'few open tasks', simple.all);

  const key = { [KEY]: 'one' };
  const repeat = () => ann.request('tools/call', { name: 'echo', arguments: {}, _meta: key });
  await row('tools/call, a new task with an idempotency key', 'few open tasks', repeat, done);
  await row('the same call again', '', repeat, done);
  await row(
    'tools/call without a task',
    'finishes at once',
    () => ann.request('tools/call', { name: 'echo' }, {}),
    done,
  );
  await row(
    'tools/call without a task',
    'works 2 s',
    () => ann.request('tools/call', { name: 'sleep', arguments: { ms: 2_000 } }, {}),
    done,
  );
  await row('tools/call of a forbidden tool', '', () => ann.request('tools/call', { name: 'direct_echo' }), done);

  const text = 'x'.repeat(LARGE);
  const working = await ann.call('sleep', { ms: 20_000 });
  const small = await ann.finished({});
  // The result has it twice, as text and as structured content.
  const large = await ann.finished({ text: text.slice(LARGE / 2) });
  const [asks, asksLarge] = [await ann.asking({}), await ann.asking({ text })];
  const states = {
    ...{ working, finished: small, 'finished, result of 100 KB': large },
    ...{ asks: asks, 'asks, arguments of 100 KB': asksLarge },
  };
  for (const [state, taskId] of Object.entries(states)) {
    await row('tasks/get', state, () => ann.request('tasks/get', { taskId }), done);
  }
  await row(
    'tasks/get',
    'no such task',
    () => ann.request('tasks/get', { taskId: '0'.repeat(36) }),
    ({ error }) => error.code === -32602,
  );
  const helper = (taskId: string, waitSeconds: number) => () =>
    ann.request('tools/call', { name: 'get_task_result', arguments: { taskId, waitSeconds } });
  await row('get_task_result', 'finished', helper(small, 20), done);
  await row('get_task_result', 'working, waits 2 s', helper(working, 2), done);
  await row('tasks/result', 'finished', () => legacy.request('tasks/result', { taskId: small }), done);
  await row(
    'GET, the stream of a session',
    'nothing to ask',
    () => get(legacy.headers),
    () => true,
  );
  for (const [state, taskId] of [
    ['arguments of some bytes', asks],
    ['arguments of 100 KB', asksLarge],
  ] as const) {
    const inputResponses = { 'r1.confirm': { action: 'accept', content: { ok: true } } };
    await row(
      'tasks/update, the last answer',
      state,
      () => ann.request('tasks/update', { taskId, inputResponses }),
      done,
    );
  }
  await row('tasks/cancel', 'working', () => ann.request('tasks/cancel', { taskId: working }), done);
  await row('tasks/cancel', 'cancelled already', () => ann.request('tasks/cancel', { taskId: working }), done);

  // An owner without a free slot.
  const ben = clientOf('ben');
  const full = await ben.session();
  await row('tasks/list', 'no task', () => full.request('tasks/list'), done);
  const open: string[] = [];
  for (let i = 0; i < openTasks; i++) open.push(await ben.call('ask'));
  for (const taskId of open) await ben.until(taskId, ({ status }) => status === 'input_required');
  const create = () => ben.request('tools/call', { name: 'echo' });
  const all = `${openTasks} open tasks`;
  const state = `${all}: no free slot`;
  await row('tools/call, refused: the first', state, create, refusedFor('TooManyOpenTasks'));
  await row('tools/call, refused: the next 2 s', state, create, refusedFor('TooManyOpenTasks'));
  await row('tasks/cancel', state, () => ben.request('tasks/cancel', { taskId: open.at(-1) }), done);
  await row('tools/call, a new task', `${all}, of which the newest has ended`, create, done);
  await row('tasks/list', `a page of ${Math.min(PAGE, openTasks)}`, () => full.request('tasks/list'), done);

  // One stream is the most that an owner may hold.
  const opening = cloud.calls.mark();
  const stream = await ben.listen(open.slice(0, -1));
  const events = stream.events[Symbol.asyncIterator]();
  await events.next();
  add('subscriptions/listen, opened', `on ${openTasks - 1} open tasks`, unitsSince(cloud, opening, 'endpoint'));
  const reads = () => cloud.calls.since(opening).filter(({ operation }) => operation === 'BatchGetItem');
  while (reads().length < 2) await sleep(100);
  add('subscriptions/listen, a later read', `on ${openTasks - 1} open tasks`, {
    read: reads().at(-1)?.consumed?.table ?? Number.NaN,
    write: 0,
    index: 0,
  });
  const taskIds = open.slice(0, 1);
  const again = () => ben.request('subscriptions/listen', { notifications: { taskIds } });
  await row(
    'subscriptions/listen, refused',
    'one task; as many streams as there may be',
    again,
    refusedFor('TooManyStreams'),
  );
  stream.close();
  return rows;

  async function get(headers: object): Promise<Answer> {
    const { status, headers: got, events } = await openStream(url, undefined, headers as Record<string, string>, 'GET');
    for await (const _ of events);
    return { status, headers: got, body: undefined };
  }
}
