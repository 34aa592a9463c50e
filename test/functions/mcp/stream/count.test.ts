import { describe, expect, test, vi } from 'vitest';
import { closing, openStream } from '../../../../functions/mcp/stream/count.ts';
import { fakeServer } from '../support/fake-server.ts';

async function* frames() {
  yield 'one';
  yield 'two';
}

describe('a counted stream is closed once', () => {
  const counted = () => {
    const closes: number[] = [];
    return { closes, stream: closing(frames(), async () => void closes.push(1)) };
  };

  test('when it has ended', async () => {
    const { closes, stream } = counted();
    const read: string[] = [];
    for await (const frame of stream) read.push(frame);
    expect([read, closes]).toEqual([['one', 'two'], [1]]);
  });

  test('when its reader leaves in the middle', async () => {
    const { closes, stream } = counted();
    for await (const _frame of stream) break;
    expect(closes).toEqual([1]);
  });

  test('when its reader leaves before the first frame', async () => {
    const { closes, stream } = counted();
    await stream.return(undefined);
    expect(closes).toEqual([1]);
  });
});

describe('a stream that cannot be counted', () => {
  const ann = { kind: 'verified', key: 'ann' } as const;
  const failing = (error: Error) => {
    const { server } = fakeServer();
    server.store.openStream = () => Promise.reject(error);
    return openStream(ann, server);
  };

  test('is held in an outage, which is logged; after another error it is not (C-37)', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(await failing(Object.assign(new Error('no'), { name: 'ThrottlingException' }))).toBeDefined();
    expect(JSON.parse(logged.mock.calls[0]?.[0])).toMatchObject({ where: 'stream count' });
    await expect(failing(new Error('broken'))).rejects.toThrow('broken');
    logged.mockRestore();
  });
});
