import { describe, expect, test } from 'vitest';
import { closing } from '../../../../functions/mcp/stream/count.ts';

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
