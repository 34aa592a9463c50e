import { expect, test } from 'vitest';
import { startCloud } from '../cloud.ts';
import { adminRole, functionResource, writeAssembly } from './fixture.ts';

/** An app with one function, whose variables take so many bytes as JSON text. */
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

function marked(mark: unknown): string {
  const role = { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } };
  const made = { ...functionResource('code', role), Metadata: { 'mcp-task-server:sharedWorker': mark } };
  const code = 'export const handler = () => new Promise((done) => setTimeout(done, 1_000));';
  return writeAssembly({ resources: { Role: adminRole('lambda'), Function: made }, assets: { code } });
}

test.each([true, false])('a function shares its worker among events where its metadata say so: %s', async (mark) => {
  const cloud = await startCloud({ assembly: marked(mark), maxWorkersPerFunction: 2 });
  const [name = ''] = cloud.lambda.workers().map(({ functionName }) => functionName);
  const all = Promise.all(Array.from({ length: 4 }, () => cloud.lambda.invoke(name, '{}')));
  await expect.poll(() => cloud.lambda.workers()[0]?.busy, { interval: 5 }).toBe(mark ? 4 : 2);
  await all;
  await cloud.stop();
});

test('a mark that is not a boolean is refused', async () => {
  const refused = 'does not know Metadata.mcp-task-server:sharedWorker "yes" of AWS::Lambda::Function';
  await expect(startCloud({ assembly: marked('yes') })).rejects.toThrow(refused);
});
