import { setTimeout as sleep } from 'node:timers/promises';
import { RotateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { type Cloud, startCloud } from '../../../local/cloud.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { verbsOn } from '../../bin/tasks/verbs.ts';
import { type Answer, FORMS, type Headers_, legacySession, modernRequest, openStream } from '../../support/clients.ts';
import type { Assembly } from './assembly.ts';

type Json = Answer['body'];

/** How long something may take in a cloud in which nothing was refused. */
const PATIENCE = 20_000;
/** The same after a refusal: its consequence is there at once, or there is none. */
const AFTER_REFUSAL = 3_000;
const MINUTE = 60_000;

interface Caller {
  readonly url: string;
  /** With a token. */
  readonly headers: Headers_;
}

interface World extends Caller {
  readonly cloud: Cloud;
  readonly lines: readonly string[];
  /** Waits until `look` says something; throws, with `what`, when it does not. */
  until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T>;
}

/**
 * Everything this project does, once, against an assembly of ./app.ts: throws at the first thing that a client or an
 * operator would see go wrong. Answers what was granted and not used.
 */
export async function everything({
  path: assembly,
  issuer,
}: Assembly): Promise<ReturnType<Cloud['permissions']['unused']>> {
  const lines: string[] = [];
  const onLog = (source: string, line: string) => void lines.push(`${source} ${line}`);
  const options = { recordCalls: true, schedules: false, movableClock: true, timeScale: 10, onLog };
  const cloud = await startCloud({ assembly, ...options });
  try {
    // Good for all the time that the clock is moved by.
    const headers = { authorization: `Bearer ${issuer.token({ exp: Math.floor(Date.now() / 1_000) + 36_000 })}` };
    const world = { cloud, url: `${cloud.url}/mcp`, headers, lines, until: untilIn(cloud, lines) };
    for (const part of [door, direct, tasks, operators, logs, machines, sessions, rotation, repairs, lost])
      await part(world);
    return cloud.permissions.unused();
  } finally {
    await cloud.stop();
  }
}

function untilIn(cloud: Cloud, lines: readonly string[]): World['until'] {
  const refused = () =>
    cloud.calls.since().some(({ error }) => error?.startsWith('AccessDenied')) ||
    lines.some((line) => /^cloud .* may not (?!write its logs)/.test(line));
  return async (what, look) => {
    let refusedAt: number | undefined;
    for (const started = Date.now(); ; await sleep(25)) {
      const seen = await look();
      if (seen !== undefined) return seen;
      if (refused()) refusedAt ??= Date.now();
      const late = refusedAt === undefined ? Date.now() - started > PATIENCE : Date.now() - refusedAt > AFTER_REFUSAL;
      if (late) throw new Error(what);
    }
  };
}

const send = ({ url, headers }: Caller, method: string, params: Record<string, unknown>) =>
  modernRequest(url, method, params, { headers });

async function ask(caller: Caller, method: string, params: Record<string, unknown>): Promise<Json> {
  const { status, body } = await send(caller, method, params);
  if (status !== 200 || body.error !== undefined) throw new Error(`${method}: ${status} ${JSON.stringify(body)}`);
  return body.result;
}
const call = (caller: Caller, name: string, args: object) => ask(caller, 'tools/call', { name, arguments: args });
const start = async (world: World, name: string, args: object): Promise<string> =>
  (await call(world, name, args)).taskId;

function reaches(world: World, taskId: string, status: string, more: (task: Json) => boolean = () => true) {
  return world.until(`a task that is ${status}`, async () => {
    const task = await ask(world, 'tasks/get', { taskId });
    return task.status === status && more(task) ? task : undefined;
  });
}

const stateOf = ({ cloud }: World, name: string) =>
  cloud.stepFunctions.executions().filter((run) => run.name.startsWith(name));

function allAborted(world: World, taskId: string) {
  const over = () => stateOf(world, taskId).every(({ status }) => status === 'ABORTED') || undefined;
  return world.until('the runs of a task to stop', over);
}

/** What stands before the endpoint: the authorizer, for a bad token and for one that lacks the scope of a tool. */
async function door(world: World): Promise<void> {
  const { url, headers, lines, until } = world;
  const refused = await send({ url, headers: { authorization: 'Bearer x' } }, 'tools/list', {});
  if (refused.status !== 401) throw new Error(`a token that is none: ${refused.status}`);
  await until('the log of the authorizer', () => lines.find((line) => /Authorizer.*invalid_token/.test(line)));
  const lacking = await send({ url, headers }, 'tools/call', { name: 'guarded', arguments: {} });
  const challenge = lacking.headers.get('www-authenticate') ?? '';
  if (lacking.status !== 403 || !challenge.includes('ops')) throw new Error(`a scope: ${lacking.status} ${challenge}`);
}

async function direct(world: World): Promise<void> {
  const { content } = await call(world, 'direct', {});
  if (content[0].text !== 'x') throw new Error(`direct: ${JSON.stringify(content)}`);
}

async function tasks(world: World): Promise<void> {
  const small = await reaches(world, await start(world, 'work', {}), 'completed');
  if (small.result.content[0].text !== 'x') throw new Error('another result');
  const large = await reaches(world, await start(world, 'work', { bytes: 200_000 }), 'completed');
  if (large.result.content[0].text.length !== 200_000) throw new Error('another large result');

  // Of tools that store nothing.
  for (const name of ['work', 'quick']) {
    const plain = await reaches(world, await start(world, name, { bytes: 2_000, plain: true }), 'completed');
    if (plain.result.content[0].text.length !== 2_000) throw new Error('another plain result');
  }

  const asking = await start(world, 'work', { ask: true });
  await answer(world, asking);
  await reaches(world, asking, 'completed');

  const twice = await start(world, 'work', { ask: true, twice: true, filler: 'x'.repeat(3_000) });
  await answer(world, twice);
  await answer(world, twice);
  await reaches(world, twice, 'completed');

  const spinning = await start(world, 'work', { spin: true });
  await reaches(world, spinning, 'working', ({ statusMessage }) => statusMessage === 'turning');
  await ask(world, 'tasks/cancel', { taskId: spinning });
  await reaches(world, spinning, 'cancelled');
  await allAborted(world, spinning);
  // A tool goes on without these permissions, and logs that it lacks them.
  const denied = world.lines.find((line) => /(?:read|write)_denied/.test(line));
  if (denied !== undefined) throw new Error(`a tool cannot read its task, or report on it: ${denied}`);
}

/** Each verb of `mcp-task-server tasks`, with the rights that it needs. */
async function operators(world: World): Promise<void> {
  const as = (role: string) => {
    const verbs = verbsOn(() => world.cloud, role);
    return async (...args: string[]) => {
      const { code, out, err } = await verbs(...args);
      if (code !== 0) throw new Error(`tasks ${args.join(' ')}: ${out}${err}`);
      return out;
    };
  };
  const [reader, operator] = [as('Reader'), as('Operator')];
  const why = ['--reason', 'a proof'];
  const open = await start(world, 'work', { ask: true, filler: 'x'.repeat(3_000) });
  await reaches(world, open, 'input_required');
  for (const verb of ['show', 'explain', 'logs']) await reader(verb, open);
  if (!(await reader('list')).includes(open)) throw new Error('a list lacks an open task');
  if (!(await operator('show', open, '--payload')).includes('Really?')) throw new Error('a question is not shown');
  await operator('logs', open, '--payload');
  const quick = await reaches(world, await start(world, 'quick', {}), 'completed');
  await operator('logs', quick.taskId, '--payload');
  await operator('answer', open, 'ok=true', ...why);
  await reaches(world, open, 'completed');
  const large = await reaches(world, await start(world, 'work', { bytes: 200_000 }), 'completed');
  await operator('show', large.taskId, '--payload');
  const plain = await reaches(world, await start(world, 'work', { bytes: 2_000, plain: true }), 'completed');
  await operator('show', plain.taskId, '--payload');
  const again = JSON.parse(await operator('rerun', open, '--force', '--json', ...why)).succeeded[0].newTaskId;
  await reaches(world, again, 'input_required');
  await operator('cancel', again, ...why);
  await reaches(world, again, 'cancelled');
}

async function answer(world: World, taskId: string): Promise<void> {
  const { inputRequests } = await reaches(world, taskId, 'input_required');
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { ok: true } } };
  await send(world, 'tasks/update', { taskId, inputResponses });
}

async function machines(world: World): Promise<void> {
  const taskId = await start(world, 'machine', { seconds: 15 });
  await reaches(world, taskId, 'working', ({ statusMessage }) => statusMessage === 'Pausing');
  await reaches(world, taskId, 'completed');
  const filler = 'x'.repeat(2_000);
  await reaches(world, await start(world, 'machine', { seconds: 1, filler }), 'completed');
  const long = await start(world, 'machine', { seconds: 36_000 });
  await world.until('the machine to run', () => (stateOf(world, long).length === 2 ? true : undefined));
  await ask(world, 'tasks/cancel', { taskId: long });
  await allAborted(world, long);
}

/** A client of 2025-11-25: its list, the stream on which it is asked, its farewell; and a browser. */
async function sessions(world: World): Promise<void> {
  const { cloud, url, until } = world;
  const { request, headers } = await legacySession(url, FORMS, '2025-11-25', world.headers);
  const params = { name: 'work', arguments: { ask: true }, task: {} };
  const { taskId } = (await request('tools/call', params)).body.result.task;
  const status = async () => (await request('tasks/get', { taskId })).body.result?.status;
  await until('a question', async () => ((await status()) === 'input_required' ? true : undefined));
  const listed: Json[] | undefined = (await request('tasks/list')).body.result?.tasks;
  if (!listed?.some((task) => task.taskId === taskId)) throw new Error(`tasks/list: ${JSON.stringify(listed)}`);
  cloud.clock.advance(10_000);
  const { status: opened, events, close } = await openStream(url, undefined, headers, 'GET');
  if (opened !== 200) throw new Error(`GET: ${opened}`);
  let asked = false;
  for await (const { data } of events) {
    asked = JSON.stringify(data).includes('Really?');
    // Held as long as the question is open.
    if (asked) break;
  }
  close();
  if (!asked) throw new Error('not asked on the stream of the session');
  for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS']) {
    const init = { method, headers: method === 'OPTIONS' ? { origin: 'http://localhost:1' } : headers };
    const answered = await fetch(url, init);
    if (answered.status >= 300 && answered.status !== 405) throw new Error(`${method}: ${answered.status}`);
  }
}

async function rotation({ cloud, url, headers, lines, until }: World): Promise<void> {
  const { request } = await legacySession(url, FORMS, '2025-11-25', headers);
  const [SecretId] = cloud.secrets;
  await new SecretsManagerClient(clientConfig(cloud)).send(new RotateSecretCommand({ SecretId }));
  await until('the signing key to be rotated', () => lines.find((line) => /Rotation.*signing_key_rotated/.test(line)));
  const { status } = await request('ping');
  if (status !== 200) throw new Error(`a session after a rotation: ${status}`);
}

async function repairs(world: World): Promise<void> {
  const { cloud, lines, until } = world;
  const caller = 'ServerEndpoint';
  const dies = () => cloud.faults.add({ service: 'states', operation: 'StartExecution', caller, do: 'killWorker' });
  const sweep = () => cloud.schedules.fire('ServerReconcilerSweep');

  // A run ends outside its workflow: an event, or none that arrives, and then a letter.
  const ends = async () => {
    const taskId = await start(world, 'work', { spin: true });
    await until('a run', () => stateOf(world, taskId)[0]);
    const [run] = stateOf(world, taskId);
    await new SFNClient(clientConfig(cloud)).send(new StopExecutionCommand({ executionArn: run?.arn }));
    return taskId;
  };
  await reaches(world, await ends(), 'failed');
  cloud.faults.add({ service: 'events', operation: 'Deliver', do: { error: 'Gone', status: 400 } });
  await ends();
  await until('a dead letter', () => [...cloud.queues.values()].flat()[0]);

  // Answered, and not started again; still running a minute later; overdue. What they were called with lies in S3, for
  // the sweep, and for an endpoint that did not put it there.
  const note = 'x'.repeat(5_000);
  const asking = await start(world, 'work', { ask: true, note });
  const later = await start(world, 'work', { ask: true, note });
  await reaches(world, asking, 'input_required');
  dies();
  await answer(world, asking).catch(() => undefined);
  const running = await start(world, 'work', { spin: true });
  await until('a run', () => stateOf(world, running)[0]);
  // A tool that is a state machine: the sweep looks at its execution, too.
  const machine = await start(world, 'machine', { seconds: 36_000 });
  await until('the machine to run', () => (stateOf(world, machine).length === 2 ? true : undefined));
  cloud.clock.advance(MINUTE);
  await sweep();
  await until('the sweep to start a round', () => stateOf(world, `${asking}-r2`)[0]);
  await answer(world, later);
  await reaches(world, later, 'completed');
  await until('metrics', () => lines.find((line) => /Reconciler.*"Sweep":1/.test(line)));
  const looked = cloud.calls
    .since()
    .filter(({ operation, status }) => operation === 'DescribeExecution' && status === 200);
  if (!looked.some(({ caller: by }) => by.includes('Reconciler'))) throw new Error('the sweep looked at no run');
  cloud.clock.advance(6 * MINUTE);
  await sweep();
  // A refused look shows nothing, and the workflow looks at its machine, too.
  const looks = () =>
    cloud.calls.since().filter(({ operation, status }) => operation === 'DescribeExecution' && status === 200);
  const atMachine = () =>
    looks().find(
      ({ caller: by, input }) => /Reconciler/.test(by) && /execution:[^"]*Machine/.test(JSON.stringify(input)),
    );
  await until('the sweep to look at the machine', atMachine);
  await ask(world, 'tasks/cancel', { taskId: machine });
  cloud.clock.advance(3_600_000);
  await sweep();
  await allAborted(world, running);
  await send(world, 'tasks/get', { taskId: running });
}

/** The machine of a tool has ended, and its workflow cannot store what it returned or asks: the reconciler does. */
async function lost(world: World): Promise<void> {
  for (const [asks, status] of [
    [false, 'completed'],
    [true, 'input_required'],
  ] as const) {
    await lostOnce(world, asks, status);
  }
}

async function lostOnce(world: World, asks: boolean, status: string): Promise<void> {
  const refused = { error: 'ServiceException', status: 500 };
  const caller = 'ServerToolmachineRole';
  const fault = world.cloud.faults.add({ service: 'lambda', operation: 'Invoke', caller, do: refused, times: 1_000 });
  const taskId = await start(world, 'machine', { seconds: 1, filler: 'x'.repeat(2_000), ask: asks });
  await world.until('a workflow that cannot store a result', () => fault.hits || undefined);
  const workflow = stateOf(world, taskId).find(({ status }) => status === 'RUNNING');
  await new SFNClient(clientConfig(world.cloud)).send(new StopExecutionCommand({ executionArn: workflow?.arn }));
  await reaches(world, taskId, status);
  fault.remove();
}

/** What an operator reads. */
async function logs(world: World): Promise<void> {
  const { cloud, lines, until } = world;
  const { taskId } = await call(world, 'work', {});
  const caller = 'ServerEndpoint';
  const fault = { error: 'ValidationException' };
  cloud.faults.add({ service: 'dynamodb', operation: 'GetItem', caller, do: fault });
  // It reads the record alone: without the progress, a poll is answered.
  await send(world, 'tasks/cancel', { taskId });
  await until('the log of the endpoint', () => lines.find((line) => /Endpoint.*unexpected_error/.test(line)));
  for (const tool of ['direct', 'work']) {
    await until(`the log of ${tool}`, () => lines.find((line) => line.includes(`hello from ${tool}`)));
  }
}
