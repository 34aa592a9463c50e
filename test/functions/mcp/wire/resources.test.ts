import { expect, test } from 'vitest';
import { resource, resourceContents } from '../../../../functions/mcp/wire/resources.ts';

const uri = 'https://server.example/files/a/b';

test('a file in a list has its URL, and is no block of a result (A-24)', () => {
  const file = { id: 'A'.repeat(22), name: 'a.txt', type: 'text/plain', bytes: 2, sha256: 'ab' };
  const _meta = { 'mcp-task-server/sha256': 'ab' };
  expect(resource(file, uri)).toEqual({ uri, name: 'a.txt', mimeType: 'text/plain', size: 2, _meta });
});

test.each([
  ['text/plain; charset=utf-8', 'ä', { text: 'ä' }],
  ['application/vnd.a+json', '{}', { text: '{}' }],
  ['image/png', 'ä', { blob: 'w6Q=' }],
  ['text/plain', Buffer.from([0xff]), { blob: '/w==' }],
  ['text/plain', '', { text: '' }],
  ['application/json', '"\n"', { text: '"\n"' }],
  ['text/plain', '\u0001'.repeat(30), { blob: 'AQEB'.repeat(10) }],
])('content of type %s: %s (A-24)', (mimeType, content, given) => {
  expect(resourceContents(uri, Buffer.from(content as string), mimeType)).toEqual({ uri, mimeType, ...given });
});
