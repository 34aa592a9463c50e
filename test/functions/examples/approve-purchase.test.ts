import { afterEach, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/examples/approve-purchase.ts';
import { runTool } from '../../../functions/tool/testing.ts';

const purchase = { item: 'a desk', euros: 420, approver: 'ann@example.com' };
const yes = { action: 'accept', content: { note: 'Good for the back' }, by: 'Ann' } as const;
afterEach(() => vi.unstubAllEnvs());

test('mails the link once, and orders once after a yes, also when it crashes after each step', async () => {
  for (const crashAfter of ['mail', 'order']) {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const { result, rounds } = await runTool(handler, purchase, { signals: { approval: yes }, crashAfter });
    const order = expect.stringMatching(/^PO-[0-9a-f]{8}$/);
    expect(result).toEqual({ ordered: true, order, by: 'Ann', note: 'Good for the back' });
    expect(rounds).toBe(2);
    const mails = log.mock.calls.map(([line]) => line);
    expect(mails).toEqual([expect.stringMatching(/^To ann@example\.com: Please decide within two days: http\S+$/)]);
    log.mockRestore();
  }
});

test.each([
  [{ action: 'decline' }, 'ann@example.com declined.'],
  [{ action: 'cancel', by: 'Ann' }, 'Ann declined.'],
  ['timeout', 'ann@example.com did not answer within two days.'],
] as const)('after %o nothing is ordered', async (approval, reason) => {
  const { result } = await runTool(handler, purchase, { signals: { approval } });
  expect(result).toEqual({ ordered: false, reason });
});

test('asks a client that can be asked who approves, and tells another one to say it', async () => {
  const { approver, ...rest } = purchase;
  const answers = { who: { action: 'accept', content: { approver } } };
  const { result, asked } = await runTool(handler, rest, { answers, signals: { approval: yes } });
  expect([result, Object.keys(asked)]).toEqual([expect.objectContaining({ ordered: true }), ['who']]);
  for (const options of [{ accepts: [] }, { answers: { who: { action: 'decline' } } }]) {
    expect((await runTool(handler, rest, options)).result).toMatchObject({ isError: true });
  }
});

test('a mail service that refuses the mail fails the task before it waits', async () => {
  vi.stubEnv('MAIL_URL', 'http://mail.example');
  vi.stubGlobal('fetch', async () => new Response('', { status: 500 }));
  await expect(runTool(handler, purchase)).rejects.toThrow('The mail service answered with status 500');
  vi.unstubAllGlobals();
});
