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
const TIMEOUT = 20_000;
/** The same after a refusal: its consequence is there at once, or there is none. */
const AFTER_REFUSAL = 3_000;
const MINUTE = 60_000;

interface Caller {
  readonly url: string;
  /** With a token. */
  readonly headers: Headers_;
}

interface Deployed extends Caller {
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
    const deployed = { cloud, url: `${cloud.url}/mcp`, headers, lines, until: untilIn(cloud, lines) };
    for (const part of [door, direct, tasks, operators, logs, machines, sessions, rotation, repairs, lost])
      await part(deployed);
    return cloud.permissions.unused();
  } finally {
    await cloud.stop();
  }
}

function untilIn(cloud: Cloud, lines: readonly string[]): Deployed['until'] {
  const refused = () =>
    cloud.calls.since().some(({ error }) => error?.startsWith('AccessDenied')) ||
    lines.some((line) => /^cloud .* may not (?!write its logs)/.test(line));
  return async (what, look) => {
    let refusedAt: number | undefined;
    for (const started = Date.now(); ; await sleep(25)) {
      const seen = await look();
      if (seen !== undefined) return seen;
      if (refused()) refusedAt ??= Date.now();
      const late = refusedAt === undefined ? Date.now() - started > TIMEOUT : Date.now() - refusedAt > AFTER_REFUSAL;
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
const start = async (deployed: Deployed, name: string, args: object): Promise<string> =>
  (await call(deployed, name, args)).taskId;

function reaches(deployed: Deployed, taskId: string, status: string, more: (task: Json) => boolean = () => true) {
  return deployed.until(`a task that is ${status}`, async () => {
    const task = await ask(deployed, 'tasks/get', { taskId });
    return task.status === status && more(task) ? task : undefined;
  });
}

const stateOf = ({ cloud }: Deployed, name: string) =>
  cloud.stepFunctions.executions().filter((run) => run.name.startsWith(name));

function allAborted(deployed: Deployed, taskId: string) {
  const over = () => stateOf(deployed, taskId).every(({ status }) => status === 'ABORTED') || undefined;
  return deployed.until('the runs of a task to stop', over);
}

/** What stands before the endpoint: the authorizer, for a bad token and for one that lacks the scope of a tool. */
async function door(deployed: Deployed): Promise<void> {
  const { url, headers, lines, until } = deployed;
  const refused = await send({ url, headers: { authorization: 'Bearer x' } }, 'tools/list', {});
  if (refused.status !== 401) throw new Error(`a token that is none: ${refused.status}`);
  await until('the log of the authorizer', () => lines.find((line) => /Authorizer.*invalid_token/.test(line)));
  const lacking = await send({ url, headers }, 'tools/call', { name: 'guarded', arguments: {} });
  const challenge = lacking.headers.get('www-authenticate') ?? '';
  if (lacking.status !== 403 || !challenge.includes('ops')) throw new Error(`a scope: ${lacking.status} ${challenge}`);
}

async function direct(deployed: Deployed): Promise<void> {
  const { content } = await call(deployed, 'direct', {});
  if (content[0].text !== 'x') throw new Error(`direct: ${JSON.stringify(content)}`);
}

async function tasks(deployed: Deployed): Promise<void> {
  const small = await reaches(deployed, await start(deployed, 'work', {}), 'completed');
  if (small.result.content[0].text !== 'x') throw new Error('another result');
  const large = await reaches(deployed, await start(deployed, 'work', { bytes: 200_000 }), 'completed');
  if (large.result.content[0].text.length !== 200_000) throw new Error('another large result');

  // Of tools that store nothing.
  for (const name of ['work', 'quick']) {
    const plain = await reaches(deployed, await start(deployed, name, { bytes: 2_000, plain: true }), 'completed');
    if (plain.result.content[0].text.length !== 2_000) throw new Error('another plain result');
  }

  const asking = await start(deployed, 'work', { ask: true });
  await answer(deployed, asking);
  await reaches(deployed, asking, 'completed');

  const twice = await start(deployed, 'work', { ask: true, twice: true, filler: 'x'.repeat(3_000) });
  await answer(deployed, twice);
  await answer(deployed, twice);
  await reaches(deployed, twice, 'completed');

  const more = await start(deployed, 'work', { more: true });
  // Not by a poll, which would begin the round as well.
  await deployed.until('the next round of a task that has more to do', () => stateOf(deployed, `${more}-r2`)[0]);
  await reaches(deployed, more, 'completed');

  const spinning = await start(deployed, 'work', { spin: true });
  await reaches(deployed, spinning, 'working', ({ statusMessage }) => statusMessage === 'turning');
  await ask(deployed, 'tasks/cancel', { taskId: spinning });
  await reaches(deployed, spinning, 'cancelled');
  await allAborted(deployed, spinning);
  // A tool goes on without these permissions, and logs that it lacks them.
  const denied = deployed.lines.find((line) => /(?:read|write)_denied/.test(line));
  if (denied !== undefined) throw new Error(`a tool cannot read its task, or report on it: ${denied}`);
}

/** Each verb of `mcp-task-server tasks`, with the rights that it needs. */
async function operators(deployed: Deployed): Promise<void> {
  const as = (role: string) => {
    const verbs = verbsOn(() => deployed.cloud, role);
    return async (...args: string[]) => {
      const { code, out, err } = await verbs(...args);
      if (code !== 0) throw new Error(`tasks ${args.join(' ')}: ${out}${err}`);
      return out;
    };
  };
  const [reader, operator] = [as('Reader'), as('Operator')];
  const why = ['--reason', 'a proof'];
  const open = await start(deployed, 'work', { ask: true, filler: 'x'.repeat(3_000) });
  await reaches(deployed, open, 'input_required');
  for (const verb of ['show', 'explain', 'logs']) await reader(verb, open);
  if (!(await reader('list')).includes(open)) throw new Error('a list lacks an open task');
  if (!(await operator('show', open, '--payload')).includes('Really?')) throw new Error('a question is not shown');
  await operator('logs', open, '--payload');
  const quick = await reaches(deployed, await start(deployed, 'quick', {}), 'completed');
  await operator('logs', quick.taskId, '--payload');
  await operator('answer', open, 'ok=true', ...why);
  await reaches(deployed, open, 'completed');
  const large = await reaches(deployed, await start(deployed, 'work', { bytes: 200_000 }), 'completed');
  await operator('show', large.taskId, '--payload');
  const plain = await reaches(deployed, await start(deployed, 'work', { bytes: 2_000, plain: true }), 'completed');
  await operator('show', plain.taskId, '--payload');
  const again = JSON.parse(await operator('rerun', open, '--force', '--json', ...why)).succeeded[0].newTaskId;
  await reaches(deployed, again, 'input_required');
  await operator('cancel', again, ...why);
  await reaches(deployed, again, 'cancelled');
}

async function answer(deployed: Deployed, taskId: string): Promise<void> {
  const { inputRequests } = await reaches(deployed, taskId, 'input_required');
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { ok: true } } };
  await send(deployed, 'tasks/update', { taskId, inputResponses });
}

async function machines(deployed: Deployed): Promise<void> {
  const taskId = await start(deployed, 'machine', { seconds: 15 });
  await reaches(deployed, taskId, 'working', ({ statusMessage }) => statusMessage === 'Pausing');
  await reaches(deployed, taskId, 'completed');
  const filler = 'x'.repeat(2_000);
  await reaches(deployed, await start(deployed, 'machine', { seconds: 1, filler }), 'completed');
  const long = await start(deployed, 'machine', { seconds: 36_000 });
  await deployed.until('the machine to run', () => (stateOf(deployed, long).length === 2 ? true : undefined));
  await ask(deployed, 'tasks/cancel', { taskId: long });
  await allAborted(deployed, long);
}

/** A client of 2025-11-25: its list, the stream on which it is asked, its farewell; and a browser. */
async function sessions(deployed: Deployed): Promise<void> {
  const { cloud, url, until } = deployed;
  const { request, headers } = await legacySession(url, FORMS, '2025-11-25', deployed.headers);
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

async function rotation({ cloud, url, headers, lines, until }: Deployed): Promise<void> {
  const { request } = await legacySession(url, FORMS, '2025-11-25', headers);
  const [SecretId] = cloud.secrets;
  await new SecretsManagerClient(clientConfig(cloud)).send(new RotateSecretCommand({ SecretId }));
  await until('the signing key to be rotated', () => lines.find((line) => /Rotation.*signing_key_rotated/.test(line)));
  const { status } = await request('ping');
  if (status !== 200) throw new Error(`a session after a rotation: ${status}`);
}

async function repairs(deployed: Deployed): Promise<void> {
  const { cloud, lines, until } = deployed;
  const caller = 'ServerEndpoint';
  const dies = () => cloud.faults.add({ service: 'states', operation: 'StartExecution', caller, do: 'killWorker' });
  const sweep = () => cloud.schedules.fire('ServerReconcilerSweep');

  // A run ends outside its workflow: an event, or none that arrives, and then a letter.
  const ends = async () => {
    const taskId = await start(deployed, 'work', { spin: true });
    await until('a run', () => stateOf(deployed, taskId)[0]);
    const [run] = stateOf(deployed, taskId);
    await new SFNClient(clientConfig(cloud)).send(new StopExecutionCommand({ executionArn: run?.arn }));
    return taskId;
  };
  await reaches(deployed, await ends(), 'failed');
  cloud.faults.add({ service: 'events', operation: 'Deliver', do: { error: 'Gone', status: 400 } });
  await ends();
  await until('a dead letter', () => [...cloud.queues.values()].flat()[0]);

  // Answered, and not started again; still running a minute later; overdue. What they were called with lies in S3, for
  // the sweep, and for an endpoint that did not put it there.
  const note = 'x'.repeat(5_000);
  const asking = await start(deployed, 'work', { ask: true, note });
  const later = await start(deployed, 'work', { ask: true, note });
  await reaches(deployed, asking, 'input_required');
  dies();
  await answer(deployed, asking).catch(() => undefined);
  const running = await start(deployed, 'work', { spin: true });
  await until('a run', () => stateOf(deployed, running)[0]);
  // A tool that is a state machine: the sweep looks at its execution, too.
  const machine = await start(deployed, 'machine', { seconds: 36_000 });
  await until('the machine to run', () => (stateOf(deployed, machine).length === 2 ? true : undefined));
  cloud.clock.advance(MINUTE);
  await sweep();
  await until('the sweep to start a round', () => stateOf(deployed, `${asking}-r2`)[0]);
  await answer(deployed, later);
  await reaches(deployed, later, 'completed');
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
  await ask(deployed, 'tasks/cancel', { taskId: machine });
  cloud.clock.advance(3_600_000);
  await sweep();
  await allAborted(deployed, running);
  await send(deployed, 'tasks/get', { taskId: running });
}

/** The machine of a tool has ended, and its workflow cannot store what it returned or asks: the reconciler does. */
async function lost(deployed: Deployed): Promise<void> {
  for (const [asks, status] of [
    [false, 'completed'],
    [true, 'input_required'],
  ] as const) {
    await lostOnce(deployed, asks, status);
  }
}

async function lostOnce(deployed: Deployed, asks: boolean, status: string): Promise<void> {
  const refused = { error: 'ServiceException', status: 500 };
  const caller = 'ServerMachineRole';
  const fault = deployed.cloud.faults.add({
    service: 'lambda',
    operation: 'Invoke',
    caller,
    do: refused,
    times: 1_000,
  });
  const taskId = await start(deployed, 'machine', { seconds: 1, filler: 'x'.repeat(2_000), ask: asks });
  await deployed.until('a workflow that cannot store a result', () => fault.hits || undefined);
  const workflow = stateOf(deployed, taskId).find(({ status }) => status === 'RUNNING');
  await new SFNClient(clientConfig(deployed.cloud)).send(new StopExecutionCommand({ executionArn: workflow?.arn }));
  await reaches(deployed, taskId, status);
  fault.remove();
}

/** What an operator reads. */
async function logs(deployed: Deployed): Promise<void> {
  const { cloud, lines, until } = deployed;
  const { taskId } = await call(deployed, 'work', {});
  const caller = 'ServerEndpoint';
  const fault = { error: 'ValidationException' };
  cloud.faults.add({ service: 'dynamodb', operation: 'GetItem', caller, do: fault });
  // It reads the record alone: without the progress, a poll is answered.
  await send(deployed, 'tasks/cancel', { taskId });
  await until('the log of the endpoint', () => lines.find((line) => /Endpoint.*unexpected_error/.test(line)));
  for (const tool of ['direct', 'work']) {
    await until(`the log of ${tool}`, () => lines.find((line) => line.includes(`hello from ${tool}`)));
  }
}
