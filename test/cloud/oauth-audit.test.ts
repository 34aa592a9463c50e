import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cloud } from '../../local/cloud.ts';
import { type Answer, ended, legacySession, modernRequest } from '../support/clients.ts';
import { startOAuthCloud } from '../support/oauth-cloud.ts';
import { type Claims, startIssuer, type TestIssuer } from '../support/oidc.ts';

const lines: string[] = [];
let issuer: TestIssuer;
let cloud: Cloud;
beforeAll(async () => {
  issuer = await startIssuer();
  cloud = await startOAuthCloud(issuer.url, { onLog: (_source, line) => void lines.push(line) });
});
afterAll(async () => {
  await cloud?.stop();
  await issuer?.stop();
});

const url = () => `${cloud.url}/mcp`;
const bearer = (claims: Claims = {}) => ({ authorization: `Bearer ${issuer.token(claims)}` });
const ask = async (method: string, params: Record<string, unknown>, headers = bearer()) =>
  (await modernRequest(url(), method, params, { headers })).body.result;
type Task = Answer['body'];
async function until(taskId: string, done: (task: Task) => boolean): Promise<Task> {
  const task = await ask('tasks/get', { taskId });
  return done(task) ? task : until(taskId, done);
}
/** The audit events so far; of one task. */
const events = (taskId?: string): Record<string, unknown>[] =>
  lines
    .filter((line) => line.startsWith('{"event":"audit"'))
    .map((line) => JSON.parse(line))
    .filter((event) => taskId === undefined || event.taskId === taskId);

test('the logs tell the story of a task, in order, and whose it is without saying who', async () => {
  const { taskId } = await ask('tools/call', { name: 'ask' });
  const { inputRequests } = await until(taskId, ({ status }) => status === 'input_required');
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { ok: true } } };
  await ask('tasks/update', { taskId, inputResponses });
  await until(taskId, ended);
  const story = events(taskId);
  expect(story.map(({ action }) => action)).toEqual([
    ...['created', 'input_asked', 'input_answered', 'finished', 'retrieved'],
  ]);
  expect(story[0]).toEqual({ event: 'audit', action: 'created', owner: story[4]?.owner, taskId, tool: 'ask' });
  expect(story[3]).toMatchObject({ status: 'completed', by: 'workflow' });
  expect(story[0]?.owner).toMatch(/^owner#[0-9a-z]{26}$/);
  expect(lines.join()).not.toContain('"ann"');
});

test('who is refused is told of: by the task they asked for, the scope they lack, the token they brought', async () => {
  const { taskId } = await ask('tools/call', { name: 'echo', arguments: {} });
  const [{ owner: ann }] = events(taskId) as [{ owner: string }];
  const ben = bearer({ sub: 'ben' });
  const before = events().length;
  await ask('tasks/get', { taskId }, ben);
  await ask('tools/call', { name: 'event' }, ben);
  await modernRequest(url(), 'tools/list', {}, { headers: { authorization: 'Bearer garbage' } });
  const session = await legacySession(url(), {}, '2025-11-25', bearer());
  await session.request('ping', {}, ben);
  const told = events()
    .slice(before)
    .filter(({ action }) => action === 'denied');
  const [{ owner: hash }] = told as [{ owner: string }];
  expect(hash).not.toBe(ann);
  const denied = { event: 'audit', action: 'denied' };
  expect(told).toEqual([
    { ...denied, owner: hash, taskId, reason: 'not_found' },
    { ...denied, owner: hash, tool: 'event', reason: 'insufficient_scope' },
    { ...denied, reason: 'invalid_token' },
    { ...denied, owner: hash, reason: 'session' },
  ]);
});
