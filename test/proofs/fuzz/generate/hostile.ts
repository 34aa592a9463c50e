import { type Node, nodeOf } from './json-text.ts';
import type { Random } from './random.ts';

/** Values of a client that wants the server to fail. */

const NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'then', 'toJSON', 'length'],
  ...['', ' ', 'id', 'method', 'params', 'result', 'error', '_meta', 'name', 'arguments', 'taskId', 'task', 'cursor'],
  ...['requestState', 'inputResponses', 'ttl', 'progressToken', 'r1.confirm', 'r1.__proto__', 'r0.who', 'x.$', '0'],
  ...[
    'io.modelcontextprotocol/protocolVersion',
    'io.modelcontextprotocol/clientCapabilities',
    'a/b',
    '\u0000',
    '\ud800',
  ],
];
const STRINGS = [
  ...['', ' ', '\u0000', '\ud800', '\udc00\ud800', '\ufeff', '\u2028', '😀'.repeat(40), 'é', '\r\nx-injected: 1\r\n'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', '-1', '1e400', 'true'],
  ...['../../../etc/passwd', "' OR '1'='1", '{% $states.context %}', '$$.Execution.Id', '${x}', '#{x}', '%s%n', '<b>'],
  ...[
    'planted-secret',
    '2026-07-28',
    '2025-11-25',
    '2025-06-18',
    '2024-11-05',
    '9999-99-99',
    '2.0',
    'file:x',
    'javascript:0',
    '\\',
  ],
  ...['accept', 'decline', 'cancel', 'working', 'tools/call', 'elicitation/create', 'r1.confirm', 'a.b', 'a.b.c', '.'],
  ...['0'.repeat(36), 'z'.repeat(36), `${'0'.repeat(26)}_${'0'.repeat(36)}`, '#session', '#slots#0', 'task#', '$'],
];
/** Numbers as text: some are more than a number can hold. */
const NUMBERS = [
  ...['0', '-0', '1', '-1', '1.5', '1e308', '-1e308', '5e-324', '1e400', '-1e999', '9007199254740991'],
  ...[
    '9007199254740993',
    '1e21',
    '123456789012345678901234567890',
    '0.1',
    '2147483648',
    '4294967296',
    '-9007199254740992',
  ],
];
const OBJECTS: readonly unknown[] = [
  ...[{}, [], [[]], [null], { '': '' }, { length: 1e9 }, { length: -1 }, { 0: 'a', length: 1 }],
  ...[{ toString: 1, valueOf: 1 }, { constructor: { prototype: { polluted: true } } }, { $ref: 'http://[::1]/' }],
  ...[{ toJSON: null }, { type: 'constructor' }, { type: '__proto__' }, { type: { toString: 1, valueOf: 1 } }],
  ...[{ method: 'constructor', params: {} }, { method: '__proto__' }, { method: 'toString' }, { action: {} }],
  ...[{ action: 'accept', content: { __proto__: null, ok: 'yes' } }, Array.from({ length: 5_000 }, (_, i) => i)],
];
const LENGTHS = [300, 2_000, 33_000, 70_000, 210_000, 450_000];

export const hostileName = (random: Random): string =>
  random.chance(0.02) ? 'n'.repeat(random.pick(LENGTHS)) : random.pick(NAMES);

export function hostileString(random: Random): string {
  if (random.chance(0.005)) return 'x'.repeat(1_100_000);
  if (random.chance(0.04)) return random.pick(['x', '\u0001', '"', '世', '\ud83d']).repeat(random.pick(LENGTHS));
  return random.pick(STRINGS);
}

/** Any value; broken ones are left to `brokenText`. */
export function hostileValue(random: Random): Node {
  switch (random.int(8)) {
    case 0:
      return random.pick(['null', 'true', 'false']);
    case 1:
    case 2:
      return random.pick(NUMBERS);
    case 3:
      return nested(random, random.pick([10, 60, 63, 64, 65, 70, 5_000]));
    case 4:
      return {
        members: [
          [hostileName(random), hostileValue(random)],
          ['__proto__', hostileValue(random)],
        ],
      };
    case 5:
      return nodeOf(random.pick(OBJECTS));
    default:
      return JSON.stringify(hostileString(random));
  }
}

function nested(random: Random, depth: number): Node {
  if (random.chance(0.5)) return `${'['.repeat(depth)}${']'.repeat(depth)}`;
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

const NO_JSON = [
  ...['', ' ', 'null', 'true', '5', '""', '[]', '[[]]', '[{}]', '{}', '{', '}', '[', '"', '{"', '{"a"', '{"a":', '{,}'],
  ...["{'jsonrpc':'2.0'}", '{jsonrpc:"2.0"}', '{"a":1,}', '{"a":NaN}', '{"a":01}', '{"a":.5}', '{"a":"\t"}', '//x\n{}'],
  ...[
    '\ufeff{}',
    '<xml/>',
    'jsonrpc=2.0&id=1',
    '{}{}',
    '{}\u0000',
    '\u0000',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    '-',
    '1e',
  ],
];

/** A body that is not a message. */
export function brokenBody(random: Random): Buffer {
  if (random.chance(0.01)) return Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(10_000_000)}"}`);
  if (random.chance(0.1)) return Buffer.from('['.repeat(random.pick([10, 1_000, 400_000])));
  if (random.chance(0.15)) return Buffer.from(Array.from({ length: random.int(300) }, () => random.int(256)));
  return Buffer.from(random.pick(NO_JSON));
}

/** A damaged body: cut off, a bit turned, bytes that are not UTF-8, twice the same, or in a list. */
export function wounded(body: Buffer, random: Random): Buffer {
  const at = random.int(body.length + 1);
  switch (random.int(6)) {
    case 0:
      return body.subarray(0, at);
    case 1: {
      const copy = Buffer.from(body);
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << random.int(8));
      return copy;
    }
    case 2:
      return Buffer.concat([body.subarray(0, at), Buffer.from(random.pick(BYTES)), body.subarray(at)]);
    case 3:
      return Buffer.concat([body, body]);
    case 4:
      return Buffer.concat([Buffer.from('['), body, Buffer.from(','), body, Buffer.from(']')]);
    default:
      return Buffer.from(body.toString('utf8'), random.pick(['utf16le', 'latin1']));
  }
}

/** Bytes that are overlong, cut off, a surrogate as UTF-8 or beyond Unicode, and ends of strings in other languages. */
const BYTES = [
  [0xc0, 0xaf],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xff, 0xfe],
  [0],
  [0x1b],
  [0x7f],
];

const HEADERS = [
  ...['', ' ', '*/*', 'text/html', 'application/json', 'text/event-stream', 'application/json;q=0', 'a/b, c/d', ','],
  ...['2026-07-28', ' 2026-07-28\t', '2025-11-25', '2025-06-18', '2024-11-05', '2099-01-01', '9999-99-99', 'v1', '1.0'],
  ...[
    'tools/call',
    'tasks/get',
    'TOOLS/LIST',
    '__proto__',
    'null',
    'https://evil.example',
    'http://localhost:1',
    'null',
  ],
  ...[
    '=?base64?SGVsbG8=?=',
    '=?base64?SGVsbG8?=',
    '=?base64?%%%?=',
    '=?base64??=',
    '=?BASE64?YQ==?=',
    '=?base64?7aCA?=',
  ],
  ...['a.b', '.', 'e30.e30', 'é', '\u0001'.replace('\u0001', '~'), 'x'.repeat(2_000), 'x'.repeat(8_000)],
  ...[`a${' '.repeat(7_000)}b`, ','.repeat(7_000), '.'.repeat(7_000), `a${'\t'.repeat(6_000)}`],
];
export const hostileHeader = (random: Random): string => random.pick(HEADERS);
