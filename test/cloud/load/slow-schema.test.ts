import { beforeAll, expect, test } from 'vitest';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

const said: string[] = [];
const assembly = useAssembly('test/support/apps/slow-schema-app.ts');
const cloud = useCloud('assembly', { assembly, schedules: true, onLog: (_source, line) => void said.push(line) });
// The start of the workers is no part of what is measured.
beforeAll(async () => void (await call('direct_echo', {})));

/** A second, and what a busy machine adds to it. */
const SOON = 4_000;
const call = async (name: string, args: object) => {
  const before = performance.now();
  const { body } = await modernRequest(`${cloud().url}/mcp`, 'tools/call', { name, arguments: args });
  return { result: body.result, ms: performance.now() - before };
};

test.each([
  ['a pattern', 'slug', { slug: `${'a'.repeat(60)}!` }],
  ['unique items', 'rows', { rows: Array.from({ length: 14_000 }, (_, n) => ({ n })) }],
])('arguments that %s would judge for minutes or years are refused after a second (A-14)', async (_, name, args) => {
  const { result, ms } = await call(name, args);
  expect(result).toMatchObject({ isError: true });
  expect(result.content[0].text).toContain(`Invalid arguments for tool ${name}: arguments take too long to check`);
  expect(ms).toBeLessThan(SOON);
  expect(said.join()).toContain(`"event":"schema_too_slow","what":"arguments of ${name}"`);
});

test('16 of them at once, one per worker, delay other calls only briefly', async () => {
  await call('direct_echo', {});
  const attack = Array.from({ length: 16 }, () => call('slug', { slug: `${'a'.repeat(60)}!` }));
  const other = await call('direct_echo', { still: 'here' });
  expect(other.result.structuredContent.args).toEqual({ still: 'here' });
  // It waits for the first worker that is free again; 16 that start at once slow each other down.
  expect(other.ms).toBeLessThan(3 * SOON);
  for (const { result } of await Promise.all(attack)) expect(result).toMatchObject({ isError: true });
});
