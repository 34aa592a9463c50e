import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cloud } from '../../../local/cloud.ts';
import { legacySession, modernRequest, post } from '../../support/clients.ts';
import { startIamCloud } from '../../support/oauth-cloud.ts';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startIamCloud();
});
afterAll(() => cloud?.stop());

const url = () => `${cloud.url}/mcp`;
const signed = (user: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${user}/20260409/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0`,
});
const UNKNOWN = '0'.repeat(36);

describe('callers that sign', () => {
  test('an unsigned request never reaches the endpoint', async () => {
    const { status, body } = await post(url(), { jsonrpc: '2.0', id: 1, method: 'ping' });
    const error = { code: -32600, message: 'Missing Authentication Token' };
    expect([status, body]).toEqual([403, { jsonrpc: '2.0', error }]);
  });

  test('are known to their tools by ARN, in a task and in a direct call', async () => {
    const cat = { headers: signed('cat'), capabilities: {} };
    const called = async (name: string) =>
      (await modernRequest(url(), 'tools/call', { name, arguments: {} }, cat)).body.result.structuredContent.caller;
    const subject = expect.stringMatching(/^arn:aws:iam::\d+:user\/cat$/);
    expect(await called('caller')).toEqual({ subject });
    expect(await called('direct_echo')).toEqual({ subject });
  });

  test('have their own tasks, in either revision (F-05, G-15)', async () => {
    const ann = { headers: signed('ann') };
    const { body } = await modernRequest(url(), 'tools/call', { name: 'sleep', arguments: { ms: 10_000 } }, ann);
    const { taskId } = body.result;
    expect((await modernRequest(url(), 'tasks/get', { taskId }, ann)).body.result).toMatchObject({ taskId });
    const legacy = await legacySession(url(), {}, '2025-11-25', signed('ann'));
    expect((await legacy.request('tasks/get', { taskId })).body.result).toMatchObject({ taskId });
    expect((await legacy.request('tasks/list')).body.result.tasks).toMatchObject([{ taskId }]);

    const ben = { headers: signed('ben') };
    const theirs = await legacySession(url(), {}, '2025-11-25', signed('ben'));
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const seen = async (id: string) =>
        (await modernRequest(url(), method, { taskId: id, inputResponses: {} }, ben)).body.error;
      expect(await seen(taskId)).toEqual({ code: -32602, message: 'Task not found' });
      expect(await seen(taskId)).toEqual(await seen(UNKNOWN));
    }
    expect((await theirs.request('tasks/list')).body.result.tasks).toEqual([]);
    expect((await theirs.request('tasks/cancel', { taskId })).body.error.message).toBe('Task not found');
    const mixed = await theirs.request('ping', {}, { 'mcp-session-id': legacy.session });
    expect([mixed.status, mixed.body.error.message]).toEqual([404, 'Session not found: initialize again']);
    expect((await modernRequest(url(), 'tasks/cancel', { taskId }, ann)).body.error).toBeUndefined();
  });
});
