import { hostileName, hostileValue } from './hostile.ts';
import { type Node, nodeOf, objectsIn, slotsOf, textOf } from './json-text.ts';
import type { Random } from './random.ts';

const text = { type: 'text', text: 'x' };
const meta = { _meta: { 'example.com/a': 1 }, annotations: { audience: ['user'], priority: 0.5 } };
const field = { type: 'string', title: 't', minLength: 1, format: 'email', default: 'a@b.example' };
const choices = { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, minItems: 1, default: ['a'] };
const form = {
  type: 'object',
  properties: { ok: { type: 'boolean' }, who: field, many: choices, n: { type: 'integer', minimum: 1, maximum: 5 } },
  required: ['ok'],
};

/** Valid results of every kind. */
const RESULTS: readonly unknown[] = [
  { content: [text, { ...text, ...meta }], structuredContent: { n: 1 }, isError: true, ...meta },
  { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png', ...meta }] },
  { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] },
  {
    content: [
      { type: 'resource_link', uri: 'https://a.example/', name: 'n', size: 5, icons: [{ src: 'https://a.example/' }] },
    ],
  },
  { content: [{ type: 'resource', resource: { uri: 'https://a.example/', text: 'x', mimeType: 'text/plain' } }] },
  { content: [{ type: 'resource', resource: { uri: 'https://a.example/', blob: 'AAAA' } }] },
  { structuredContent: { n: 1 } },
  { structuredContent: [1], content: [] },
  { n: 1, deep: { list: [1, [2, [3]]] } },
  { resultRef: { bytes: 200_000, attempt: 1, sha256: '0'.repeat(64) } },
  { resultRef: { bytes: 200_000, attempt: 1 } },
  { resultRef: { bytes: 200_000, sha256: '0'.repeat(64) }, isError: true },
  { errorType: 'Odd', errorMessage: 'm', trace: [] },
  {
    inputRequests: { a: { method: 'elicitation/create', params: { message: 'm', requestedSchema: form } } },
    requestState: 1,
  },
  {
    inputRequests: {
      a: { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://a.example/' } },
    },
  },
  {
    inputRequests: {
      a: { method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: text }], maxTokens: 1 } },
    },
  },
  { inputRequests: { a: { method: 'roots/list' }, b: { method: 'roots/list', params: {} } }, requestState: { s: 'x' } },
];

/** The text of a result: valid but for a few changes, any value, or sometimes not JSON. */
export function fuzzedResult(random: Random): string {
  if (random.chance(0.15)) return textOf(hostileValue(random));
  const result = nodeOf(random.pick(RESULTS));
  for (let left = random.int(4); left > 0; left--) change(result, random);
  return textOf(result);
}

function change(result: Node, random: Random): void {
  const object = random.pick(objectsIn(result));
  if (object === undefined) return;
  const at = random.int(object.members.length);
  switch (random.int(5)) {
    case 0:
      object.members.splice(at, 1);
      break;
    case 1:
      object.members.push([hostileName(random), hostileValue(random)]);
      break;
    case 2: {
      const member = object.members[at];
      if (member) member[0] = hostileName(random);
      break;
    }
    default:
      random.pick(slotsOf(result))?.replace(hostileValue(random));
  }
}
