import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cloud } from '../../../local/cloud.ts';
import { ended, legacySession, modernRequest } from '../../support/clients.ts';
import { issuer, useIssuer } from '../../support/issuer.ts';
import { startOAuthCloud } from '../../support/oauth-cloud.ts';

useIssuer();

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startOAuthCloud(issuer.url);
});
afterAll(() => cloud?.stop());

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

test('another owner gets neither link nor resource, and nothing of S3 is read (C-28)', async () => {
  const url = `${cloud.url}/mcp`;
  const of = (sub: string) => ({ authorization: `Bearer ${issuer.token({ sub })}` });
  const [ann, ben] = [of('ann'), of('ben')];
  const modern = (headers: Record<string, string>, method: string, params = {}) =>
    modernRequest(url, method, params, { headers, capabilities: TASKS });
  const call = { name: 'files', arguments: { text: 'x', more: 1 } };
  const { taskId } = (await modern(ann, 'tools/call', call)).body.result;
  const read = async (headers: Record<string, string>) => (await modern(headers, 'tasks/get', { taskId })).body;
  let task = (await read(ann)).result;
  while (!ended(task)) task = (await read(ann)).result;
  const { uri } = task.result.content[0];
  const [mine, foreign] = await Promise.all([ann, ben].map((one) => legacySession(url, {}, '2025-11-25', one)));

  expect((await modern(ann, 'resources/read', { uri })).body.result.contents[0].text).toBe('x');
  expect((await mine?.request('resources/read', { uri }))?.body.result.contents[0].text).toBe('x');
  const mark = cloud.calls.mark();
  const refused = { code: -32602, message: 'Resource not found', data: { uri } };
  expect((await modern(ben, 'resources/read', { uri })).body.error).toEqual(refused);
  expect((await foreign?.request('resources/read', { uri }))?.body.error).toEqual(refused);
  expect((await modern(ben, 'resources/list')).body.result.resources).toEqual([]);
  expect((await foreign?.request('resources/list'))?.body.result.resources).toEqual([]);
  expect((await read(ben)).error.message).toBe('Task not found');
  const s3 = cloud.calls.since(mark).filter(({ service }) => service === 's3');
  expect(s3).toEqual([]);
  const listed = [
    (await modern(ann, 'resources/list')).body.result,
    (await mine?.request('resources/list'))?.body.result,
  ].map(({ resources }) => resources.map(({ name }: { name: string }) => name).sort());
  expect(listed).toEqual(Array(2).fill(['0.txt', 'Zeilen “eins”.txt']));
  // Who has the URL has the key: it needs no token.
  expect(await (await fetch(uri)).text()).toBe('x');
});
