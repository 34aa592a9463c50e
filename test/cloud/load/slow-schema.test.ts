import { beforeAll, expect, test } from 'vitest';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

const said: string[] = [];
const assembly = useAssembly('test/support/apps/slow-schema-app.ts');
const cloud = useCloud('assembly', { assembly, schedules: true, onLog: (_source, line) => void said.push(line) });
// The start of the workers must not be measured.
beforeAll(async () => void (await call('direct_echo', {})));

const call = async (name: string, args: object) => {
  const { body } = await modernRequest(`${cloud().url}/mcp`, 'tools/call', { name, arguments: args });
  return body.result;
};

test.each([
  ['a pattern', 'slug', { slug: `${'a'.repeat(60)}!` }],
  ['unique items', 'rows', { rows: Array.from({ length: 14_000 }, (_, n) => ({ n })) }],
])('arguments that %s would check for minutes or years are refused after a second (A-14)', async (_, name, args) => {
  const result = await call(name, args);
  expect(result).toMatchObject({ isError: true });
  expect(result.content[0].text).toContain(`Invalid arguments for tool ${name}: arguments take too long to check`);
  expect(said.join()).toContain(`"event":"schema_too_slow","what":"arguments of ${name}","ms":500`);
});

test('16 of them at once, one per worker, do not keep another call from its answer', async () => {
  await call('direct_echo', {});
  const attack = Array.from({ length: 16 }, () => call('slug', { slug: `${'a'.repeat(60)}!` }));
  // It waits for the first worker that is free again.
  const other = async () => (await call('direct_echo', { still: 'here' }))?.structuredContent?.args;
  await expect.poll(other).toEqual({ still: 'here' });
  for (const result of await Promise.all(attack)) expect(result).toMatchObject({ isError: true });
});
