import { createHash } from 'node:crypto';
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { ended, legacySession, modernRequest, poll } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/cloud/files/app.ts') });
const url = () => `${cloud().url}/mcp`;
const JSON_ONLY = { accept: 'application/json' };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

async function started(args: object): Promise<string> {
  const call = { name: 'files', arguments: args };
  return (await modernRequest(url(), 'tools/call', call, { capabilities: TASKS })).body.result.taskId;
}

const s3 = (accessKeyId = '') =>
  new S3Client({
    ...{ endpoint: cloud().endpoint, region: cloud().region, forcePathStyle: true },
    credentials: { accessKeyId, secretAccessKey: 'local' },
  });
const objectOf = (call: { readonly input: unknown } | undefined) => {
  const { Bucket, Key } = (call?.input ?? {}) as { Bucket?: string; Key?: string };
  return { Bucket, Key };
};

describe('a file of a tool', () => {
  test('is in its result as a link, which needs no token and takes ranges', async () => {
    const bytes = Buffer.from('äöü\n'.repeat(2_000_000));
    const mark = cloud().calls.mark();
    const task = await poll(url(), await started({ text: 'äöü\n', times: 2_000_000 }), ended);
    const calls = cloud()
      .calls.since(mark)
      .filter(({ service }) => service === 's3');
    expect(calls.map(({ operation }) => operation).sort()).toEqual([
      'CompleteMultipartUpload',
      'CreateMultipartUpload',
      ...Array(3).fill('UploadPart'),
    ]);
    const [{ uri, ...link }] = task.result.content;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(link).toEqual({
      type: 'resource_link',
      name: 'Zeilen “eins”.txt',
      mimeType: 'text/plain; charset=utf-8',
      size: bytes.length,
      _meta: { 'mcp-task-server/sha256': sha256 },
    });
    expect(task.result.structuredContent.file).toBe(uri);
    const whole = await fetch(uri);
    expect(whole.headers.get('content-disposition')).toBe(
      `inline; filename="Zeilen_eins_.txt"; filename*=UTF-8''Zeilen%20%E2%80%9Ceins%E2%80%9D.txt`,
    );
    const got = Buffer.from(await whole.arrayBuffer());
    expect(createHash('sha256').update(got).digest('hex')).toBe(sha256);
    const part = await fetch(uri, { headers: { range: 'bytes=0-6' } });
    expect([part.status, await part.text()]).toEqual([206, 'äöü\n']);
    const head = await fetch(uri, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    const redirect = await fetch(uri, { redirect: 'manual' });
    expect(redirect.headers.get('location')).not.toContain(task.taskId);
    expect((await fetch(uri.replace(/.(?=\/[^/]*$)/, '!'))).status).toBe(404);
  });

  test('costs one write of S3, and one read, if it is small', async () => {
    const mark = cloud().calls.mark();
    const task = await poll(url(), await started({ text: 'x' }), ended);
    await (await fetch(task.result.content[0].uri)).text();
    const calls = cloud()
      .calls.since(mark)
      .filter(({ service }) => service === 's3');
    expect(calls.map(({ operation }) => operation)).toEqual(['PutObject', 'GetObject']);
  });

  test('cannot be replaced, also by its tool', async () => {
    const mark = cloud().calls.mark();
    await poll(url(), await started({ text: 'x' }), ended);
    const [put] = cloud()
      .calls.since(mark)
      .filter(({ operation }) => operation === 'PutObject');
    const [tool, replace] = [s3(put?.caller), { ...objectOf(put), Body: 'y' }];
    await expect(tool.send(new PutObjectCommand(replace))).rejects.toThrow(
      'is not authorized to perform: s3:PutObject',
    );
    await expect(tool.send(new PutObjectCommand({ ...replace, IfNoneMatch: '*' }))).rejects.toThrow('pre-conditions');
    await expect(tool.send(new DeleteObjectCommand(objectOf(put)))).rejects.toThrow('s3:DeleteObject');
  });

  test.each([
    ['PutObject', 1],
    ['CompleteMultipartUpload', 6_000_000],
  ])('is stored once if the answer to %s is lost', async (operation, times) => {
    const lost = cloud().faults.add({ service: 's3', operation, at: 'after', do: 'drop' });
    const task = await poll(url(), await started({ text: 'x', times }), ended);
    await lost.struck;
    expect(task.result.content[0].size).toBe(times);
    expect((await fetch(task.result.content[0].uri)).headers.get('content-length')).toBe(String(times));
  });

  test('is shown while its task works, in both revisions', async () => {
    const taskId = await started({ text: 'x', waits: true });
    const shown = /^Stored\nPreview: (http:\S+\/files\/\S+)$/;
    const { statusMessage } = await poll(url(), taskId, (task) => shown.test(task.statusMessage));
    const [, link = ''] = shown.exec(statusMessage) ?? [];
    expect(await (await fetch(link)).text()).toBe('x');
    const { request } = await legacySession(url());
    expect((await request('tasks/get', { taskId })).body.result.statusMessage).toBe(statusMessage);
    await modernRequest(url(), 'tasks/cancel', { taskId });
  });
});

describe('the resources of a server with files', () => {
  test('are the files of the owner, and small ones can be read, in both revisions (A-24)', async () => {
    const { request, initialized } = await legacySession(url(), {}, '2025-11-25');
    expect(initialized.body.result.capabilities.resources).toEqual({});
    const discovered = await modernRequest(url(), 'server/discover');
    expect(discovered.body.result.capabilities.resources).toEqual({});
    const call = async (args: object) => {
      const { task } = (await request('tools/call', { name: 'files', arguments: args, task: {} })).body.result;
      return (await request('tasks/result', { taskId: task.taskId }, JSON_ONLY)).body.result;
    };
    const [first, second] = [await call({ text: 'one' }), await call({ text: 'x', times: 4_000_001 })];
    const { resources, nextCursor } = (await request('resources/list')).body.result;
    const listed = [second, first].map(({ content: [{ type: _, ...file }] }) => file);
    expect([resources, nextCursor]).toEqual([listed, undefined]);
    const { contents } = (await request('resources/read', { uri: first.content[0].uri })).body.result;
    expect(contents).toEqual([{ uri: first.content[0].uri, mimeType: 'text/plain; charset=utf-8', text: 'one' }]);
    const modern = await modernRequest(url(), 'resources/read', { uri: first.content[0].uri });
    expect(modern.body.result).toMatchObject({ contents, ttlMs: 0, cacheScope: 'private' });
    const large = await request('resources/read', { uri: second.content[0].uri });
    expect(large.body.error.message).toContain('more than 4000000 bytes');
    expect((await request('resources/templates/list')).body.result).toEqual({ resourceTemplates: [] });
    expect((await modernRequest(url(), 'resources/list')).body.result.resources).toEqual([]);
  });

  test('come in pages of 50, the newest task first (A-24)', async () => {
    const { request } = await legacySession(url(), {}, '2025-11-25');
    for (const more of [70, 49]) {
      const { task } = (await request('tools/call', { name: 'files', arguments: { more }, task: {} })).body.result;
      await request('tasks/result', { taskId: task.taskId }, JSON_ONLY);
    }
    const pages: { readonly name: string; readonly uri: string }[][] = [];
    let cursor: string | undefined;
    do {
      const { resources, nextCursor } = (await request('resources/list', cursor === undefined ? {} : { cursor })).body
        .result;
      pages.push(resources);
      cursor = nextCursor;
    } while (cursor !== undefined);
    expect(pages.map(({ length }) => length).filter((length) => length > 0)).toEqual([50, 50, 21]);
    const names = (more: number) => [...Array.from({ length: more }, (_, n) => `${n}.txt`), 'Zeilen “eins”.txt'];
    const listed = pages.flat().map(({ name }) => name);
    expect([listed.slice(0, 50).sort(), listed.slice(50).sort()]).toEqual([names(49).sort(), names(70).sort()]);
    const [last] = pages.flat().slice(-1);
    expect((await fetch(last?.uri ?? '')).status).toBe(200);
  });

  test('are not read if S3 has another content than the link names', async () => {
    const { request } = await legacySession(url(), {}, '2025-11-25');
    const mark = cloud().calls.mark();
    const { task } = (await request('tools/call', { name: 'files', arguments: { text: 'x' }, task: {} })).body.result;
    const { content } = (await request('tasks/result', { taskId: task.taskId }, JSON_ONLY)).body.result;
    const put = cloud()
      .calls.since(mark)
      .find(({ operation }) => operation === 'PutObject');
    await s3('admin').send(new PutObjectCommand({ ...objectOf(put), Body: 'y' }));
    const { error } = (await request('resources/read', { uri: content[0].uri })).body;
    expect([error.code, error.data]).toEqual([-32603, { reason: 'FileAltered' }]);
  });

  test('a URI that is none is invalid, in both revisions (X-38)', async () => {
    const uri = `${cloud().url}/files/x/y`;
    const { request } = await legacySession(url());
    const error = { code: -32602, message: 'Resource not found', data: { uri } };
    expect((await request('resources/read', { uri })).body.error).toEqual(error);
    expect((await modernRequest(url(), 'resources/read', { uri })).body.error).toEqual(error);
  });
});
