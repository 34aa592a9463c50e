import { describe, expect, test } from 'vitest';
import type { Tool } from '../../../../functions/mcp/context.ts';
import type { Validator } from '../../../../functions/mcp/manifest.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { TASKS } from '../../../support/clients.ts';
import { clients } from '../support/fake-clients.ts';
import { fakeServer } from '../support/fake-server.ts';

describe('the model learns what is wrong with the arguments (A-14):', () => {
  /** The text of a call whose validator finds this. */
  async function told(errors: Validator['errors']) {
    const fake = fakeServer();
    Object.assign(fake.server.tools.get('plain') ?? {}, { validate: Object.assign(() => false, { errors }) });
    const { result } = await clients(fake).modern('tools/call', { name: 'plain' });
    const { content } = result as unknown as { content: { text: string }[] };
    return content[0]?.text;
  }
  const START = 'Invalid arguments for tool plain: ';
  const message = 'must be number';

  test.each<[string, Validator['errors'], string]>([
    ['where', [{ instancePath: '/where/0/region', message }], 'where.0.region must be number'],
    ['all of them', [{ instancePath: '', message: 'must be object' }], 'arguments must be object'],
    [
      'a name that is not known',
      [{ instancePath: '', message: 'must NOT have more', params: { additionalProperty: 'x' } }],
      "arguments must NOT have more ('x')",
    ],
    ['other details', [{ instancePath: '/n', message, params: { limit: 5 } }], 'n must be number'],
    ['no words', [{ instancePath: '/n' }], 'n is not valid'],
    [
      'two at once',
      [
        { instancePath: '/a', message },
        { instancePath: '/b', message },
      ],
      'a must be number; b must be number',
    ],
    ['no details', null, ''],
  ])('%s', async (_name, errors, words) => {
    expect(await told(errors)).toBe(START + words);
  });

  test('five of many, in 1,000 characters at most', async () => {
    const many = (length: number) =>
      Array.from({ length: 7 }, (_, i) => ({ instancePath: `/${i}`, message: 'm'.repeat(length) }));
    expect(await told(many(1))).toBe(`${START}0 m; 1 m; 2 m; 3 m; 4 m`);
    expect((await told(many(999)))?.length).toBe(START.length + 1_000);
  });
});

test('a tool that is unknown is named, in 128 characters at most', async () => {
  const { modern, legacy } = clients();
  const message = `Unknown tool: ${'x'.repeat(128)}`;
  expect((await modern('tools/call', { name: 'x'.repeat(129) })).error).toEqual({ code: -32602, message });
  expect((await legacy('tools/call', { name: 5 })).error).toEqual({ code: -32602, message: 'name must be a string' });
});

test('arguments may take 200,000 bytes, not characters', async () => {
  const { modern } = clients();
  const of = (text: string) => modern('tools/call', { name: 'plain', arguments: { x: text } });
  const room = limits.arguments - '{"x":""}'.length;
  expect((await of('y'.repeat(room))).error).toBeUndefined();
  expect((await of('y'.repeat(room + 1))).error?.code).toBe(-32602);
  expect((await of('é'.repeat(room / 2 + 1))).error?.code).toBe(-32602);
});

describe('whether a call is a task (C-03 to C-06):', () => {
  test('a tool that only runs as a task says what to send', async () => {
    const { error } = await clients().legacy('tools/call', { name: 'required' });
    expect(error).toEqual({ code: -32601, message: 'Tool required only runs as a task: send params.task' });
  });

  test('a task that is no object is an error', async () => {
    const { error } = await clients().legacy('tools/call', { name: 'optional', task: 'x' });
    expect(error).toEqual({ code: -32602, message: 'task must be an object' });
  });

  test('a forbidden tool says so, and is called directly in 2026-07-28 (C-05, F-10)', async () => {
    const { legacy, modern } = clients();
    const { error } = await legacy('tools/call', { name: 'plain', task: {} });
    expect(error).toEqual({ code: -32601, message: 'Tool plain cannot run as a task' });
    expect((await modern('tools/call', { name: 'plain' })).result).toMatchObject({ resultType: 'complete' });
  });
});

describe('a tool that asks first (D-20, D-25)', () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  const form = { method: 'elicitation/create', params: { message: '?', requestedSchema: schema } };
  const ALL = { ...TASKS, elicitation: { form: {} } };
  const yes = { action: 'accept', content: { ok: true } };

  function setup() {
    const fake = fakeServer();
    const { entry, ...tool } = fake.server.tools.get('optional') as Tool;
    const asking = { ...tool, entry: { ...entry, askFirst: { a: form, b: form } } };
    const here = clients({ ...fake, server: { ...fake.server, tools: new Map([['optional', asking]]) } });
    const call = (inputResponses?: object, capabilities: object = ALL) =>
      here.modern('tools/call', { name: 'optional', ...(inputResponses && { inputResponses }) }, capabilities);
    return { ...here, call };
  }

  test.each<[string, object | undefined]>([
    ['no answers', undefined],
    ['one of two', { a: yes }],
    ['a wrong one', { a: yes, b: { action: 'accept', content: { ok: 'x' } } }],
    ['one without an action', { a: yes, b: {} }],
    ['keys of a round, or that objects have', { 'r1.a': yes, b: yes, constructor: yes, __proto__: yes }],
  ])('asks, and stores nothing, for %s (D-25, D-34)', async (_name, responses) => {
    const { call, records } = setup();
    const { result } = await call(responses);
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { a: form, b: form } });
    expect(records.ids()).toHaveLength(0);
  });

  test('starts with the answers to its questions, and with no others', async () => {
    const { call, records } = setup();
    const no = { action: 'decline' };
    expect((await call({ a: yes, b: no, c: yes })).result).toMatchObject({ resultType: 'task' });
    const answers = { 'r0.a': JSON.stringify(yes), 'r0.b': JSON.stringify(no) };
    expect(records.all()).toMatchObject([{ status: 'working', inputResponses: answers }]);
    expect(Object.keys(records.all()[0]?.inputResponses ?? {})).toHaveLength(2);
  });

  test('is refused to a client that cannot be asked, and with a forged state (D-22, D-23)', async () => {
    const { call, modern, records } = setup();
    expect((await call({ a: yes, b: yes }, TASKS)).error).toMatchObject({ code: -32021 });
    const forged = { name: 'optional', requestState: 'mine', inputResponses: { a: yes, b: yes } };
    expect((await modern('tools/call', forged, ALL)).error).toMatchObject({ code: -32602 });
    expect(records.ids()).toHaveLength(0);
  });
});

describe('2025-11-25 is not held to rules of 2026-07-28:', () => {
  test('it needs no headers for its arguments (D-07)', async () => {
    const args = { where: { region: 'eu' } };
    const { legacy, modern } = clients();
    expect((await legacy('tools/call', { name: 'marked', arguments: args })).error).toBeUndefined();
    expect((await modern('tools/call', { name: 'marked', arguments: args })).error?.code).toBe(-32020);
  });

  test('a requestState means nothing to it', async () => {
    const { legacy } = clients();
    const { error } = await legacy('tools/call', { name: 'optional', task: {}, requestState: 'x' });
    expect(error).toBeUndefined();
  });
});

test('without an idempotency key a tool gets its arguments in the order they were sent', async () => {
  const inputs: string[] = [];
  const start = async (_record: unknown, input: string) => void inputs.push(input);
  const { legacy } = clients(fakeServer({ workflow: { start, stop: async () => {} } }));
  await legacy('tools/call', { name: 'optional', arguments: { b: 1, a: 2 }, task: {} });
  expect(JSON.parse(inputs[0] ?? '').arguments).toBe('{"b":1,"a":2}');
});
