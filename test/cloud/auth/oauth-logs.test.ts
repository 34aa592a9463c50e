import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cloud } from '../../../local/cloud.ts';
import { type Answer, ended, FORMS, legacySession, modernRequest } from '../../support/clients.ts';
import { issuer, useIssuer } from '../../support/issuer.ts';
import { startOAuthCloud } from '../../support/oauth-cloud.ts';
import type { Claims } from '../../support/oidc.ts';
import { isLambdasReport, PLANTED } from '../../support/planted.ts';

useIssuer();

const lines: string[] = [];
/** The logs of the tools' functions. */
const reports: string[] = [];
let cloud: Cloud;
beforeAll(async () => {
  cloud = await startOAuthCloud(issuer.url, {
    onLog: (source, line) => void (isLambdasReport(source, line) ? reports : lines).push(line),
  });
});
afterAll(() => cloud?.stop());

const url = () => `${cloud.url}/mcp`;
const bearer = (claims: Claims = {}) => ({ authorization: `Bearer ${issuer.token(claims)}` });
const ask = async (method: string, params: Record<string, unknown>, headers = bearer()) =>
  (await modernRequest(url(), method, params, { headers })).body.result;
type Task = Answer['body'];
async function until(taskId: string, done: (task: Task) => boolean, headers = bearer()): Promise<Task> {
  const task = await ask('tasks/get', { taskId }, headers);
  return done(task) ? task : until(taskId, done, headers);
}
/** The audit events so far; of one task. */
const events = (taskId?: string): Record<string, unknown>[] =>
  lines
    .filter((line) => line.startsWith('{"event":"audit"'))
    .map((line) => JSON.parse(line))
    .filter((event) => taskId === undefined || event.taskId === taskId);

test('the logs have the steps of a task in order, and its owner as a hash', async () => {
  const { taskId } = await ask('tools/call', { name: 'ask' });
  const { inputRequests } = await until(taskId, ({ status }) => status === 'input_required');
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { ok: true } } };
  await ask('tasks/update', { taskId, inputResponses });
  await until(taskId, ended);
  // The endpoint logs what it answers. The function that reads the table's stream logs each change, perhaps later.
  await expect.poll(() => events(taskId).map(({ action }) => action)).toContain('finished');
  const story = events(taskId);
  const retrieved = story.find(({ action }) => action === 'retrieved');
  const steps = story.filter((step) => step !== retrieved);
  expect(steps.map(({ action }) => action)).toEqual(['created', 'input_asked', 'input_answered', 'finished']);
  expect(steps[0]).toEqual({ event: 'audit', action: 'created', owner: retrieved?.owner, taskId, tool: 'ask' });
  expect(steps[3]).toMatchObject({ status: 'completed', by: 'workflow' });
  expect(story[0]?.owner).toMatch(/^owner#[0-9a-z]{26}$/);
  expect(lines.join()).not.toContain('"ann"');
});

test('a refusal is logged with the task asked for, the missing scope or the kind of token', async () => {
  const { taskId } = await ask('tools/call', { name: 'echo', arguments: {} });
  await expect.poll(() => events(taskId).length).toBeGreaterThan(0);
  const [{ owner: ann }] = events(taskId) as [{ owner: string }];
  const ben = bearer({ sub: 'ben' });
  const before = events().length;
  await ask('tasks/get', { taskId }, ben);
  await ask('tools/call', { name: 'event' }, ben);
  await modernRequest(url(), 'tools/list', {}, { headers: { authorization: 'Bearer garbage' } });
  const session = await legacySession(url(), {}, '2025-11-25', bearer());
  await session.request('ping', {}, ben);
  const logged = events()
    .slice(before)
    .filter(({ action }) => action === 'denied');
  const [{ owner: hash }] = logged as [{ owner: string }];
  expect(hash).not.toBe(ann);
  const denied = { event: 'audit', action: 'denied' };
  expect(logged).toEqual([
    { ...denied, owner: hash, taskId, reason: 'not_found' },
    { ...denied, owner: hash, tool: 'event', reason: 'insufficient_scope' },
    { ...denied, reason: 'invalid_token' },
    { ...denied, owner: hash, reason: 'session' },
  ]);
});

/** None of these may be in a log, in a call to AWS or in a history. */
const CREDENTIAL = `${PLANTED}-credential`;
/** The content of a task: it is in its record and its runs (SECURITY.md), and in no log. */
const CONTENT = `${PLANTED}-content`;

const form = { action: 'accept', content: { ok: true, more: CONTENT } };
const HANDED: Record<string, string>[] = ['mcp-session-id', 'last-event-id', 'origin', 'mcp-name', 'x-secret'].map(
  (name) => ({ [name]: CREDENTIAL }),
);
const raw = (body: string, headers: Record<string, string> = {}, method = 'POST') =>
  fetch(url(), { method, headers: { ...bearer(), ...headers }, ...(method === 'POST' && { body }) });

test('no text of a client or a tool is in a log, and no credential anywhere', async () => {
  const mark = cloud.calls.mark();
  const word = CONTENT;
  // Tools see the subject, so the record and the runs have it.
  const token = issuer.token({ sub: CONTENT, jti: CREDENTIAL });
  const mine = { authorization: `Bearer ${token}` };
  const given: string[] = [token, ...token.split('.')];
  const keyed = (name: string) => ({ ...mine, 'idempotency-key': `${CREDENTIAL}-${name}` });
  const whole = async (name: string, args: object) => {
    const { taskId } = await ask('tools/call', { name, arguments: args }, keyed(JSON.stringify(args)));
    const asks = await until(taskId, ({ status }) => status === 'input_required', mine);
    const [question = ''] = Object.keys(asks.inputRequests);
    await ask('tasks/update', { taskId, inputResponses: { [question]: form } }, mine);
    return until(taskId, ended, mine);
  };
  expect(JSON.stringify(await whole('confide', { word }))).toContain(CONTENT);
  expect(await whole('confide', { word, fails: true })).toMatchObject({ status: 'failed' });

  // These are for a call without a task: the client keeps them, and sends them back.
  const direct = { name: 'direct_confide', arguments: { word } };
  const first = await ask('tools/call', direct, mine);
  given.push(first.requestState);
  await ask('tools/call', { ...direct, requestState: first.requestState, inputResponses: { confirm: form } }, mine);
  await ask('tools/call', { ...direct, requestState: CREDENTIAL }, mine);
  const legacy = await legacySession(url(), FORMS, '2025-11-25', mine);
  given.push(legacy.session);
  await legacy.request('tasks/list', { cursor: CREDENTIAL });
  await legacy.request('tools/call', { name: 'confide', arguments: { word, fails: true }, task: {} });
  await legacy.request('tools/call', { name: CONTENT });
  await legacy.request(CONTENT, { word });

  // These are not even calls.
  for (const body of [`{"a": ${CREDENTIAL}`, CREDENTIAL, `["${CREDENTIAL}"]`, `{"jsonrpc":"${CREDENTIAL}"}`])
    await raw(body);
  for (const headers of HANDED) for (const method of ['POST', 'GET']) await raw('{}', headers, method);
  await raw('{}', { authorization: `Bearer ${CREDENTIAL}` });
  await raw('{}', { authorization: `Basic ${CREDENTIAL}` });
  await fetch(`${url()}?token=${CREDENTIAL}`, { method: 'POST', headers: bearer() });

  // These are texts that AWS may send.
  const caller = 'ServerEndpoint';
  const message = `Value '${CONTENT}' is not valid\n    at ${CONTENT}:1:1`;
  for (const [service, operation] of [
    ['dynamodb', 'PutItem'],
    ['dynamodb', 'GetItem'],
    ['states', 'StartExecution'],
  ] as const) {
    cloud.faults.add({ service, operation, caller, do: { error: 'ValidationException', message } });
    await ask('tools/call', { name: 'echo', arguments: { word } }, keyed(operation));
  }

  const log = lines.join('\n');
  expect(lines.filter((line) => line.includes('"unexpected_error"')).length).toBeGreaterThan(0);
  for (const secret of [PLANTED, ...given]) expect(log).not.toContain(secret);
  for (const secret of [CREDENTIAL, ...given]) expect(reports.join('\n')).not.toContain(secret);
  const sent = JSON.stringify(cloud.calls.since(mark).filter(({ service }) => service !== 'secretsmanager'));
  expect(sent).toContain(CONTENT);
  for (const secret of [CREDENTIAL, ...given]) expect(sent).not.toContain(secret);
});
