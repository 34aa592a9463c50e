import { expect, test } from 'vitest';
import { startCloud } from '../cloud.ts';
import { adminRole, functionResource, writeAssembly } from './fixture.ts';

/** An app with one function, whose variables take this many bytes as JSON text. */
function withEnvironment(bytes: number): string {
  const filled = 'ü'.repeat(100);
  const Variables = { filled, rest: 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify({ filled, rest: '' }))) };
  const Role = { 'Fn::GetAtt': ['Role', 'Arn'] };
  const more = { FunctionName: 'laden', Environment: { Variables }, Role };
  const resources = { Role: adminRole('lambda'), Function: functionResource('code', more) };
  return writeAssembly({ resources, assets: { code: 'export const handler = async () => 1;' } });
}

test('a function may have 4 KB of environment variables, with their names', async () => {
  const cloud = await startCloud({ assembly: withEnvironment(4_096) });
  await cloud.stop();
});

test('a function that has more is refused at the start, by its name, with the sum', async () => {
  const refused = 'the function laden: its environment variables take 4097 bytes, of at most 4096';
  await expect(startCloud({ assembly: withEnvironment(4_097) })).rejects.toThrow(refused);
});
