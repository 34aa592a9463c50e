import { expect, test } from 'vitest';
import { clients } from '../support/fake-clients.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const hello = { protocolVersion: '2025-11-25', capabilities: {} };
const told = (instructions?: string) =>
  clients(fakeServer({ manifest: { ...manifest, ...(instructions !== undefined && { instructions }) } }));

test.each([
  ['protocolVersion must be a string', { ...hello, protocolVersion: 1 }],
  ['capabilities must be an object', { ...hello, capabilities: 'all' }],
])('initialize that is not valid names the field: %s (B-01)', async (message, params) => {
  const { error, headers } = await clients().legacy('initialize', params);
  expect(error).toEqual({ code: -32602, message });
  expect(headers).not.toHaveProperty('mcp-session-id');
});

test('the instructions of the server are shown in both revisions, if there are any (B-01, D-15)', async () => {
  const shown = { instructions: 'Use with care' };
  expect((await told(shown.instructions).legacy('initialize', hello)).result).toMatchObject(shown);
  expect((await told(shown.instructions).modern('server/discover')).result).toMatchObject(shown);
  expect((await told().legacy('initialize', hello)).result).not.toHaveProperty('instructions');
  expect((await told().modern('server/discover')).result).not.toHaveProperty('instructions');
});
