import { expect, test } from 'vitest';
import { meta, SUPPORTED } from '../../../../functions/mcp/protocol/versions.ts';
import { modernMessage } from '../../../support/clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { exchanged } from '../support/posted.ts';

interface Sent {
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly headers?: Record<string, string | undefined>;
  readonly meta?: Record<string, unknown>;
}
const long = (letter: string, length: number) => letter.repeat(length);
const call = { method: 'tools/call', params: { name: 'plain', arguments: {} } };

test.each<[string, Sent, number, string]>([
  [
    'another version in the header (D-05)',
    { method: 'ping', meta: { [meta.protocolVersion]: '2027-01-01' } },
    -32020,
    "MCP-Protocol-Version '2026-07-28' does not match body value '2027-01-01'",
  ],
  [
    'no version in the header (D-05)',
    { method: 'ping', headers: { 'mcp-protocol-version': undefined } },
    -32020,
    'MCP-Protocol-Version is missing',
  ],
  [
    'another method in the header, of which the error repeats 100 characters (D-05)',
    { method: long('b', 101), headers: { 'mcp-method': long('a', 101) } },
    -32020,
    `Mcp-Method '${long('a', 100)}' does not match body value '${long('b', 100)}'`,
  ],
  ['no name (D-06)', { ...call, headers: { 'mcp-name': undefined } }, -32020, 'Mcp-Name is missing'],
  [
    'another name (D-06)',
    { ...call, headers: { 'mcp-name': 'other' } },
    -32020,
    "Mcp-Name 'other' does not match body value 'plain'",
  ],
  [
    'a name that is no base64 (D-07)',
    { ...call, headers: { 'mcp-name': '=?base64?%?=' } },
    -32020,
    'Mcp-Name is not valid base64',
  ],
  [
    'no capabilities (D-01)',
    { method: 'ping', meta: { [meta.clientCapabilities]: 'all' } },
    -32602,
    `_meta must hold '${meta.clientCapabilities}', an object`,
  ],
  [
    'a client without a name',
    { method: 'ping', meta: { [meta.clientInfo]: { version: '1' } } },
    -32602,
    `_meta['${meta.clientInfo}'] needs name and version`,
  ],
  [
    'tasks without their capability (E-02)',
    { method: 'tasks/get', params: { taskId: 't' }, meta: { [meta.clientCapabilities]: {} } },
    -32021,
    'tasks/get is for clients that know tasks',
  ],
])('a request with %s is refused in a sentence', async (_name, sent, code, message) => {
  const { body, headers } = modernMessage(sent.method, sent.params);
  Object.assign(body.params._meta, sent.meta);
  const { error } = await exchanged(fakeServer().server, body, { ...headers, ...sent.headers });
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
});

test('a method that is unknown: the error lists the versions of the server (D-14)', async () => {
  const { body, headers } = modernMessage('no/such');
  const { status, error } = await exchanged(fakeServer().server, body, headers);
  expect([status, error.code, error.data]).toEqual([404, -32601, { supported: SUPPORTED }]);
});
