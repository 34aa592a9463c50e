import { expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { loggingSetLevel } from '../../../../functions/mcp/methods/logging-set-level.ts';
import { sessionPartition } from '../../../../functions/tasks/ids.ts';
import { fakeServer } from '../support/fake-server.ts';

const principal = { kind: 'verified', key: 'ann' } as const;
const call = (level: unknown, session?: string) => ({ params: { level }, principal, session }) as unknown as Call;

test('a level is noted for its session, next to what is noted already (B-12)', async () => {
  const { server } = fakeServer();
  const partition = sessionPartition('s');
  await server.store.updateSession(partition, () => ({ waiting: { t: 1 }, asked: {} }), 1);
  expect(await loggingSetLevel(call('warning', 's'), server)).toEqual({});
  expect(await server.store.session(partition)).toEqual({ waiting: { t: 1 }, asked: {}, logLevel: 'warning' });
});

test.each([
  ['level must be one of debug, info, notice, warning, error, critical, alert, emergency', call('loud', 's')],
  ['logging/setLevel needs the MCP-Session-Id that initialize gave', call('info')],
])('what is not valid is an error that says what is: %s', async (message, asked) => {
  const { server } = fakeServer();
  await expect(loggingSetLevel(asked, server)).rejects.toMatchObject({ code: -32602, message });
});
