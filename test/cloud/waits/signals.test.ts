import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { signalUrl } from '../../../functions/tasks/waits/signal-url.ts';
import { useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, modernRequest, poll } from '../../support/clients.ts';
import { useAssembly } from '../../support/cloud.ts';

const { cloud, url, start, stored, sweepAfter } = useCrashCloud({ assembly: useAssembly('test/cloud/waits/app.ts') });
const DAY = 86_400_000;
const LINK = { kind: 'link', in: 3 * DAY, properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const WEBHOOK = { kind: 'webhook', in: DAY, schema: { type: 'object', required: ['model'] } };

async function waiting(waits: object, more: object = {}) {
  const taskId = await start('waits', { rounds: [waits], ...more });
  await expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  return taskId;
}

/** The URL of a wait, as its tool makes it. */
async function urlOf(taskId: string, name: string): Promise<string> {
  const { hookKey = '' } = await stored(taskId);
  return signalUrl({ url: `${cloud().url}/signals`, key: hookKey }, name);
}

async function send(to: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const form = (to: string, fields: Record<string, string>) =>
  send(to, new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' });

test('a webhook: the POST of another system begins the next round, which gets its body', async () => {
  const taskId = await waiting({ trained: WEBHOOK });
  const { body } = await modernRequest(url(), 'tasks/get', { taskId });
  expect(body.result).toMatchObject({
    status: 'working',
    statusMessage: expect.stringMatching(/^Waiting for trained until /),
  });
  const to = await urlOf(taskId, 'trained');
  const first = await send(to, { model: 's3://m', loss: 0.25 });
  expect(first).toMatchObject({ status: 200, text: expect.stringContaining('"received":true') });
  expect(await poll(url(), taskId, ended)).toMatchObject({
    status: 'completed',
    result: {
      structuredContent: {
        rounds: [1, 2],
        signals: { trained: { body: { model: 's3://m', loss: 0.25 }, at: expect.any(Number) } },
        // The tool makes the same URL.
        place: { url: to.split('/').slice(0, -3).join('/') },
      },
    },
  });
  expect((await send(to, { model: 's3://m', loss: 0.25 })).status).toBe(410);
});

test('a link: a person reads what is asked, answers the form, and the next round gets the answer', async () => {
  const taskId = await waiting({ approval: LINK });
  const to = await urlOf(taskId, 'approval');
  // The id is the key to the whole task here: who has the link finds it neither as text nor in its bytes.
  const { owner } = await stored(taskId);
  const parts = to.split('/').slice(-3);
  const read = [to, ...parts.map((part) => Buffer.from(part, 'base64url').toString('latin1'))].join();
  for (const secret of [taskId.slice(-12), owner.slice(-12)]) expect(read).not.toContain(secret);
  const page = await fetch(to);
  const shown = await page.text();
  expect(page.status).toBe(200);
  expect(shown).not.toContain(taskId);
  expect(shown).toContain('Wait approval?');
  const style = /<style>([^<]*)<\/style>/.exec(shown)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'content-type': 'text/html; charset=utf-8',
  });
  const wrong = await form(to, { action: 'accept', by: 'Ann' });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain('This is required');
  expect(await stored(taskId)).toMatchObject({ status: 'waiting', inputResponses: {} });
  const answered = await form(to, { action: 'accept', f0: 'true', by: 'Ann <b>' });
  expect(answered).toMatchObject({ status: 200, text: expect.stringContaining('Ann &lt;b&gt;') });
  const { result } = await poll(url(), taskId, ended);
  expect(result.structuredContent.signals).toEqual({
    approval: { action: 'accept', content: { ok: true }, by: 'Ann <b>', at: expect.any(Number) },
  });
});

test('a wait that is over: the next round gets that, and the link is gone', async () => {
  const taskId = await waiting({ approval: { ...LINK, in: DAY } });
  const to = await urlOf(taskId, 'approval');
  await sweepAfter(DAY + 60_000);
  const { result } = await poll(url(), taskId, ended);
  expect(result.structuredContent.signals).toEqual({ approval: { timedOut: true } });
  expect((await form(to, { action: 'decline' })).status).toBe(410);
});

test('a tampered or foreign URL is 404 after two reads, one of no task after one', async () => {
  const [taskId, other] = [await waiting({ a: LINK }), await waiting({ a: LINK })];
  const to = await urlOf(taskId, 'a');
  const flipped = to.slice(0, -1) + (to.endsWith('A') ? 'B' : 'A');
  const place = to.split('/').at(-3) ?? '';
  const gone = to.replace(place, `${place.slice(0, -4)}zzzz`);
  const ofOther = to.replace(/[^/]+$/, (await urlOf(other, 'a')).split('/').at(-1) ?? '');
  const answers: string[] = [];
  for (const wrong of [flipped, gone, ofOther, to.replace('/a/', '/b/')]) {
    for (const method of ['GET', 'POST']) {
      const mark = cloud().calls.mark();
      const response = await fetch(wrong, { method, headers: { accept: 'application/json' } });
      answers.push(`${response.status} ${await response.text()} ${JSON.stringify([...response.headers.keys()])}`);
      const calls = cloud()
        .calls.since(mark)
        .filter(({ caller }) => caller.startsWith('ServerSignals'));
      expect(calls.map(({ operation }) => operation)).toEqual(wrong === gone ? ['GetItem'] : ['GetItem', 'GetItem']);
    }
  }
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^404 /);
  expect(await stored(taskId)).toMatchObject({ status: 'waiting', inputResponses: {} });
});

test('a link that waits for 7 days costs nothing, and its signal no more than an answer', async () => {
  const taskId = await waiting({ approval: { kind: 'link', in: 8 * DAY } });
  const to = await urlOf(taskId, 'approval');
  const asleep = cloud().calls.mark();
  for (let day = 0; day < 7; day++) await sweepAfter(DAY);
  const calls = (mark: number) =>
    cloud()
      .calls.since(mark)
      .filter(({ operation, input }) => operation !== 'PutEvents' && JSON.stringify(input).includes(taskId));
  expect(calls(asleep)).toEqual([]);
  const mark = cloud().calls.mark();
  expect((await send(to, { action: 'accept', content: {} })).status).toBe(200);
  const bySignals = calls(mark).filter(({ caller }) => caller.startsWith('ServerSignals'));
  expect(bySignals.map(({ operation }) => operation)).toEqual(['GetItem', 'Query', 'UpdateItem']);
  expect(bySignals.reduce((sum, { consumed }) => sum + (consumed?.table ?? 99), 0)).toBeLessThanOrEqual(5);
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
});
