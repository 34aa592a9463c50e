import { RotateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type Cloud, startCloud } from '../../../local/cloud.ts';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { verbsOn } from '../../bin/tasks/verbs.ts';
import { FORMS, legacySession, openStream } from '../../support/clients.ts';
import type { Assembly } from './assembly.ts';
import {
  allAborted,
  answer,
  ask,
  call,
  type Deployed,
  type Json,
  reaches,
  send,
  start,
  stateOf,
  untilIn,
} from './deployed.ts';
import { events } from './events.ts';
import { lost, repairs } from './repairs.ts';

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
  const options = {
    recordCalls: true,
    schedules: false,
    movableClock: true,
    timeScale: 10,
    onLog,
    variables: RECEIVERS_HERE,
  };
  const cloud = await startCloud({ assembly, ...options });
  try {
    // Good for all the time that the clock is moved by.
    const headers = { authorization: `Bearer ${issuer.token({ exp: Math.floor(Date.now() / 1_000) + 36_000 })}` };
    const deployed = { cloud, url: `${cloud.url}/mcp`, headers, lines, until: untilIn(cloud, lines) };
    for (const part of [
      door,
      direct,
      tasks,
      files,
      events,
      operators,
      signals,
      logs,
      machines,
      sessions,
      rotation,
      repairs,
      lost,
    ])
      await part(deployed);
    return cloud.permissions.unused();
  } finally {
    await cloud.stop();
  }
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

/** A file of a task, by its link, and by the list of the owner's. */
async function files(deployed: Deployed): Promise<void> {
  const { result } = await reaches(deployed, await start(deployed, 'files', {}), 'completed');
  const url = String(result.content[0].uri).replace(/^https:.*?\/v1/, deployed.cloud.url);
  const file = await fetch(url);
  if (file.status !== 200 || (await file.text()) !== 'x') throw new Error(`a file: ${file.status}`);
  const { status } = await fetch(url, { method: 'HEAD', redirect: 'manual' });
  if (status !== 302) throw new Error(`a file by HEAD: ${status}`);
  const { resources } = await ask(deployed, 'resources/list', {});
  if (resources.length !== 1) throw new Error(`a list of files: ${JSON.stringify(resources)}`);
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
  const spinning = await start(deployed, 'work', { spin: true });
  await reaches(deployed, spinning, 'working', ({ statusMessage }) => statusMessage === 'turning');
  await operator('cancel', spinning, ...why);
  await allAborted(deployed, spinning);
}

/** Two links: a person answers one, an operator the other; and an outage of the table. */
async function signals(deployed: Deployed): Promise<void> {
  const { cloud, lines, until } = deployed;
  // Its arguments lie in S3.
  const taskId = await start(deployed, 'work', { link: true, filler: 'x'.repeat(3_000) });
  await reaches(deployed, taskId, 'working', ({ statusMessage }) => /^Waiting for first/.test(String(statusMessage)));
  const verbs = verbsOn(() => cloud, 'Operator');
  const { out } = await verbs('show', taskId, '--payload', '--json');
  const url = String(JSON.parse(out).payload.links.first).replace(/^https:.*?\/v1/, cloud.url);
  const page = await fetch(url);
  if (page.status !== 200 || !(await page.text()).includes('Really?')) throw new Error(`a link: ${page.status}`);
  if ((await fetch(url, { method: 'HEAD' })).status !== 200) throw new Error('a link by HEAD');
  cloud.faults.add({
    ...{ service: 'dynamodb', operation: 'GetItem', caller: 'ServerSignalsFunction' },
    do: { error: 'ValidationException' },
  });
  if ((await fetch(url)).status !== 503) throw new Error('a link in an outage');
  await until('the log of signals', () => lines.find((line) => /Signals.*signal_failed/.test(line)));
  const answered = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'accept', content: { ok: true, filler: 'x'.repeat(3_000) } }),
  });
  if (answered.status !== 200) throw new Error(`a signal: ${answered.status} ${await answered.text()}`);
  if ((await fetch(url)).status !== 410) throw new Error('an answered link');
  // The next round is short, and asks nothing until it waits for the other one.
  await reaches(deployed, taskId, 'working', ({ statusMessage }) => /^Waiting for second/.test(String(statusMessage)));
  const { code, out: said, err } = await verbs('answer', taskId, 'second.ok=true', '--reason', 'a proof');
  if (code !== 0) throw new Error(`tasks answer: ${said}${err}`);
  await reaches(deployed, taskId, 'completed');
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
