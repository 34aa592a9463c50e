import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ended, legacySession, modernRequest, poll } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/cloud/files/app.ts') });
const url = () => `${cloud().url}/mcp`;
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

async function started(args: object): Promise<string> {
  const call = { name: 'files', arguments: args };
  return (await modernRequest(url(), 'tools/call', call, { capabilities: TASKS })).body.result.taskId;
}

describe('a file of a tool', () => {
  test('is in its result as a link, which needs no token and takes ranges', async () => {
    const bytes = Buffer.from('äöü\n'.repeat(2_000_000));
    const mark = cloud().calls.mark();
    const task = await poll(url(), await started({ text: 'äöü\n', times: 2_000_000 }), ended);
    const s3 = cloud()
      .calls.since(mark)
      .filter(({ service }) => service === 's3');
    expect(s3.map(({ operation }) => operation).sort()).toEqual([
      'CompleteMultipartUpload',
      'CreateMultipartUpload',
      'UploadPart',
      'UploadPart',
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
    const redirect = await fetch(uri, { redirect: 'manual' });
    expect(redirect.headers.get('location')).not.toContain(task.taskId);
    expect((await fetch(uri.replace(/.(?=\/[^/]*$)/, '!'))).status).toBe(404);
  });

  test('costs one write and one read of S3 and of the table if it is small, and nothing for other tools', async () => {
    const mark = cloud().calls.mark();
    const task = await poll(url(), await started({ text: 'x' }), ended);
    await (await fetch(task.result.content[0].uri)).text();
    const s3 = cloud()
      .calls.since(mark)
      .filter(({ service }) => service === 's3');
    expect(s3.map(({ operation }) => operation)).toEqual(['PutObject', 'GetObject']);
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
