import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { openSource } from '../../../../functions/examples/profile/source.ts';

// The bundler embeds the real one; here it is another gzipped file.
vi.mock('../../../../functions/examples/profile/samples.ts', async () => {
  const { gzipSync: gzip } = await import('node:zlib');
  return { samples: { orders: new Uint8Array(gzip('a\n1\n')), broken: gzip('a\n1\n').subarray(0, 15) } };
});

vi.mock('../../../../functions/examples/profile/download.ts', () => ({
  MAX_BYTES: 1_000,
  download: async (url: string) => (url.endsWith('.gz') ? gzipSync('a\n2\n') : gzipSync('0'.repeat(2_000))),
}));

const silent = async (): Promise<void> => {};

describe('openSource', () => {
  test.each([
    [{ csv: 'a\n3\n' }, 'the CSV sent', 'a\n3\n'],
    [{ sample: 'orders' }, 'sample "orders"', 'a\n1\n'],
    [{ url: 'https://data.example/x.csv.gz' }, 'https://data.example/x.csv.gz', 'a\n2\n'],
  ])('%o', async (args, title, text) => {
    const source = await openSource(args, silent);
    expect([source.title, source.data.toString()]).toEqual([title, text]);
  });

  test.each([{}, { csv: 'a', sample: 'orders' }, { csv: 'a', sample: 'orders', url: 'https://x' }])(
    '%o is not exactly one source',
    async (args) => {
      await expect(openSource(args, silent)).rejects.toThrow(/exactly one of/);
    },
  );

  test.each(['nothing', 'constructor', '__proto__'])('there is no sample %s', async (sample) => {
    await expect(openSource({ sample }, silent)).rejects.toThrow(/No sample is called .* There is: orders/);
  });

  test('refuses what does not unpack, or unpacks to too much', async () => {
    await expect(openSource({ sample: 'broken' }, silent)).rejects.toThrow(/damaged/);
    await expect(openSource({ url: 'https://data.example/bomb' }, silent)).rejects.toThrow(/unpacks to more than/);
  });
});
