import { afterEach, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/examples/train-model.ts';
import { runTool } from '../../../functions/tool/testing.ts';

const body = { model: 'orders-7', accuracy: 0.93 };
const posted = vi.fn(async (_url: string, _init: RequestInit) => new Response());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  posted.mockReset();
});

function useTrainer(): void {
  vi.stubEnv('TRAINER_URL', 'http://trainer.example');
  vi.stubGlobal('fetch', posted);
}

test.each([
  [0.9, true],
  [0.95, false],
])('starts the job once with a URL to call back, and compares what it sends with %d', async (accuracy, goodEnough) => {
  useTrainer();
  // The step is tried three times.
  posted.mockResolvedValueOnce(new Response('', { status: 503 })).mockResolvedValue(new Response());
  const signals = { trained: { body } };
  const { result } = await runTool(handler, { dataset: 'orders', accuracy }, { signals, crashAfter: 'start' });
  expect(result).toEqual({ ...body, goodEnough });
  expect(posted).toHaveBeenCalledTimes(2);
  const sent = JSON.parse(String(posted.mock.calls[0]?.[1].body));
  expect(sent).toEqual({ dataset: 'orders', callback: expect.stringMatching(/^http/) });
});

test('says that the job did not end in time', async () => {
  useTrainer();
  posted.mockResolvedValue(new Response());
  const { result } = await runTool(handler, { dataset: 'orders' }, { signals: { trained: 'timeout' } });
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('within six hours') }] });
});
