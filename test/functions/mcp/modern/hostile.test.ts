import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { modernMessage } from '../../../support/clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { exchanged } from '../support/posted.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;
const ANY = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
type Era = (typeof ERAS)[number];

/** Calls a tool with arguments as JSON text, and judges the answer by the published schemas. */
async function call(era: Era, name: string, args: string, fake = fakeServer()) {
  const { body, headers } = modernMessage('tools/call', { name, arguments: 'ARGUMENTS' }, { capabilities: ANY });
  const { _meta, ...params } = body.params;
  const sent = era === '2026-07-28' ? body : { ...body, params };
  const by = era === '2026-07-28' ? headers : { 'mcp-protocol-version': era };
  const text = JSON.stringify(sent).replace('"ARGUMENTS"', () => args);
  const { status, answer: message } = await exchanged(fake.server, text, by);
  return { status, message, did: fake.did };
}

const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;

describe.each(ERAS)('hostile arguments, %s', (era) => {
  test.each([
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    '{"toString":1,"hasOwnProperty":null,"valueOf":{},"then":[]}',
    '{"length":-1,"":{"":[]},"0":"zero"}',
    '{"x.$":"$$.Execution","{% $x %}":"${y}","a":"#{z}"}',
    '{"a":"\\u0000\\ud800 \\ufeff"}',
    '{"n":[1e308,-0,5e-324,9007199254740991]}',
    nested(60),
    `{"big":"${'x'.repeat(limits.arguments - 100)}"}`,
  ])('reach the tool unchanged, and nothing else does: %.60s (A-17)', async (args) => {
    const events: string[] = [];
    const fake = fakeServer({
      invoke: async (_tool, event) => {
        events.push(event);
        return { text: 'null' };
      },
    });
    const { message } = await call(era, 'plain', args, fake);
    expect(message.result.content).toEqual([]);
    expect(events).toHaveLength(1);
    expect(JSON.stringify(JSON.parse(String(events[0])).arguments)).toBe(JSON.stringify(JSON.parse(args)));
    expect('polluted' in {}).toBe(false);
  });

  test.each<[string, string, number]>([
    ['an invalid number', '{"n":1e400}', -32600],
    ['one of them in a list', '{"n":[{"m":-1e999}]}', -32600],
    ['nested too deep', nested(70), -32600],
    ['nested far too deep', nested(400_000), -32600],
    ['too many bytes', `{"big":"${'x'.repeat(limits.arguments)}"}`, -32602],
    ['too many bytes of other letters', `{"big":"${'世'.repeat(limits.arguments / 3)}"}`, -32602],
    ['a list', '[]', -32602],
    ['a string', '"{}"', -32602],
    ['a number', '5', -32602],
    ['not JSON', '{"a":NaN}', -32700],
  ])('are refused before anything is done: %s (A-02, A-13, A-17)', async (_what, args, code) => {
    const { message, did } = await call(era, 'plain', args);
    expect([message.error.code, did]).toEqual([code, []]);
    expect(message.error.message.length).toBeLessThan(200);
  });

  test.each(['__proto__', 'constructor', 'toString', '', 'x'.repeat(100_000), 'plain\u0000', 'Plain'])(
    'a tool by the name of %.20s is unknown (A-13, A-17)',
    async (name) => {
      const { body, headers } = modernMessage('tools/call', { name });
      const encoded = `=?base64?${Buffer.from(name).toString('base64')}?=`;
      const by = era === '2026-07-28' ? { ...headers, 'mcp-name': encoded } : { 'mcp-protocol-version': era };
      const sent = era === '2026-07-28' ? body : { ...body, params: { name } };
      const fake = fakeServer();
      const { error } = await exchanged(fake.server, sent, by);
      expect([error.code, fake.did]).toEqual([-32602, []]);
      expect(error.message).toMatch(/^Unknown tool: .{0,128}$/);
    },
  );
});

const text = { type: 'text', text: 'x' };

describe.each(ERAS)('what a tool may not make us send, %s', (era) => {
  const returned = async (value: unknown) => {
    const fake = fakeServer({ invoke: async () => ({ text: JSON.stringify(value) }) });
    return (await call(era, 'plain', '{}', fake)).message.result;
  };

  test.each<[string, unknown]>([
    ['content is not an array', { content: 'x' }],
    ['content is null', { content: null }],
    ['a block is null', { content: [null] }],
    ['a block is a string', { content: ['x'] }],
    ['a block has no type', { content: [{ text: 'x' }] }],
    ['an unknown type', { content: [{ type: 'video', data: '' }] }],
    ['one good block, one bad', { content: [text, { type: 'text' }] }],
  ])('%s: the value becomes plain text (A-17)', async (_what, value) => {
    const result = await returned(value);
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(value) }]);
    expect(result.structuredContent).toEqual(value);
  });

  test.each<[string, unknown]>([
    ['isError is a string', 'true'],
    ['isError is a number', 1],
    ['isError is null', null],
    ['isError is an object', {}],
  ])('%s: it is not an error (A-17)', async (_what, isError) => {
    expect(await returned({ content: [text], isError })).not.toHaveProperty('isError');
  });

  test('a result that is nested too deep to send is an error that says so (A-15, A-17)', async () => {
    const fake = fakeServer({ invoke: async () => ({ text: nested(100_000) }) });
    const { message } = await call(era, 'plain', '{}', fake);
    expect(message.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('500 levels') }] });
  });

  test('nothing else of a result is passed on (A-17)', async () => {
    const forged = { resultType: 'task', taskId: 'x', task: {}, ttlMs: 5, cacheScope: 'public', requestState: 's' };
    const result = await returned({ content: [text], ...forged });
    expect(Object.keys(result).sort()).toEqual(era === '2026-07-28' ? ['_meta', 'content', 'resultType'] : ['content']);
  });
});

describe.each(ERAS)('an outputSchema that is not kept, %s', (era) => {
  const promising = (structuredContent: unknown) => {
    const fake = fakeServer({ invoke: async () => ({ text: JSON.stringify({ content: [text], structuredContent }) }) });
    const tools = new Map(fake.server.tools);
    const plain = tools.get('plain');
    if (plain === undefined) throw new Error('The fake server has no plain tool');
    const validateOutput = (value: unknown) => typeof value === 'object' && value !== null && 'n' in value;
    tools.set('plain', { ...plain, validateOutput });
    return { ...fake, server: { ...fake.server, tools } };
  };

  test('by a tool that is called directly: an error result, without the content (A-19)', async () => {
    for (const broken of [{ m: 1 }, undefined, null, 'x']) {
      const { message } = await call(era, 'plain', '{}', promising(broken));
      expect(message.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('plain') }] });
      expect(message.result).not.toHaveProperty('structuredContent');
    }
  });

  test('kept, the content comes as it is (A-19)', async () => {
    const { message } = await call(era, 'plain', '{}', promising({ n: 1 }));
    expect(message.result).toMatchObject({ content: [text], structuredContent: { n: 1 } });
  });
});
