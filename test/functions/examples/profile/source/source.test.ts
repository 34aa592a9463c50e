import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { openSource } from '../../../../../functions/examples/profile/source/source.ts';

// Files share a process: another one may have loaded what is replaced here.
vi.hoisted(() => vi.resetModules());

// The bundler embeds the real one; here it is another gzipped file.
vi.mock('../../../../../functions/examples/profile/source/samples.ts', async () => {
  const { gzipSync: gzip } = await import('node:zlib');
  return { samples: { orders: new Uint8Array(gzip('a\n1\n')) } };
});

vi.mock('../../../../../functions/examples/profile/source/download.ts', () => ({
  MAX_BYTES: 1_000,
  download: async (url: string) => {
    if (url.endsWith('broken')) return gzipSync('a\n1\n').subarray(0, 15);
    return gzipSync(url.endsWith('bomb') ? '0'.repeat(2_000) : 'a\n2\n');
  },
}));

const silent = async (): Promise<void> => {};

describe('openSource', () => {
  test.each([
    [{ csv: 'a\n3\n' }, 'the CSV sent', 'a\n3\n'],
    [{ sample: 'orders' }, 'sample "orders"', 'a\n1\n'],
    [{ url: 'https://data.example/x.csv.gz' }, 'https://data.example/x.csv.gz', 'a\n2\n'],
  ] as const)('%o', async (args, title, text) => {
    const source = await openSource(args, silent, {});
    expect([source.title, source.data.toString()]).toEqual([title, text]);
  });

  test.each([{}, { csv: 'a', sample: 'orders' }, { csv: 'a', sample: 'orders', url: 'https://x' }] as const)(
    '%o is not exactly one source',
    async (args) => {
      await expect(openSource(args, silent, {})).rejects.toThrow(/exactly one of/);
    },
  );

  test('refuses what does not unpack, or unpacks to too much', async () => {
    await expect(openSource({ url: 'https://data.example/broken' }, silent, {})).rejects.toThrow(/damaged/);
    await expect(openSource({ url: 'https://data.example/bomb' }, silent, {})).rejects.toThrow(/unpacks to more than/);
  });
});
