import { describe, expect, test } from 'vitest';
import { isBlock, isPrompt } from '../../../../functions/tasks/questions/content.ts';
import { partsOf } from '../parts.ts';

const annotations = { audience: ['user', 'assistant'], priority: 0.5, lastModified: '2025-01-01' };
const common = { annotations, _meta: {} };
const icons = [{ src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['any'], theme: 'light' }];
const text = { type: 'text', text: 't', ...common };
const image = { type: 'image', data: 'YQ==', mimeType: 'image/png', ...common };

describe('a block of a result has all its members checked', () => {
  test.each<[string, object, string[]]>([
    ['text', text, ['type', 'text']],
    ['an image', image, ['type', 'data', 'mimeType']],
    ['audio', { ...image, type: 'audio' }, ['type', 'data', 'mimeType']],
    [
      'a link',
      {
        ...{ type: 'resource_link', uri: 'file:///a', name: 'a', ...common, icons },
        ...{ title: 't', description: 'd', mimeType: 'text/plain', size: 1 },
      },
      ['type', 'uri', 'name', 'icons.0.src'],
    ],
    [
      'a text resource',
      { type: 'resource', ...common, resource: { uri: 'file:///a', text: 't', mimeType: 'text/plain', _meta: {} } },
      ['type', 'resource', 'resource.uri', 'resource.text'],
    ],
    [
      'a binary resource',
      { type: 'resource', resource: { uri: 'file:///a', blob: 'YQ==', mimeType: 'a/b', _meta: {} } },
      ['type', 'resource', 'resource.uri', 'resource.blob'],
    ],
  ])('%s', (_title, block, required) => {
    expect(isBlock(block)).toBe(true);
    expect(partsOf(isBlock, block)).toEqual({ nullable: [], required });
  });

  test.each([
    ['a type that there is not', { type: 'video', text: 't' }],
    ['a use of a tool, which is no result', { type: 'tool_use', id: 'i', name: 'n', input: {} }],
    ['a role that there is not', { ...text, annotations: { audience: ['system'] } }],
    ['a priority above 1', { ...text, annotations: { priority: 1.1 } }],
    ['a priority below 0', { ...text, annotations: { priority: -0.1 } }],
    ['data that is not Base64', { ...image, data: 'a' }],
    ['an address that is none', { type: 'resource_link', uri: 'a b', name: 'a' }],
    [
      'a theme that there is not',
      { type: 'resource_link', uri: 'a:b', name: 'a', icons: [{ src: 'a:b', theme: 'x' }] },
    ],
  ])('%s is refused', (_title, block) => {
    expect(isBlock(block)).toBe(false);
  });

  test('each priority from 0 to 1 is one, and each of two themes', () => {
    for (const priority of [0, 1]) expect(isBlock({ ...text, annotations: { priority } })).toBe(true);
    const link = (theme: string) => ({ type: 'resource_link', uri: 'a:b', name: 'a', icons: [{ src: 'a:b', theme }] });
    expect(isBlock(link('dark'))).toBe(true);
  });
});

describe('a request for sampling has all its members checked (D-21)', () => {
  const schema = { type: 'object', $schema: 's', properties: { a: {} }, required: ['a'] };
  const hints = { readOnlyHint: true, destructiveHint: true, idempotentHint: true, openWorldHint: true };
  const prompt = {
    messages: [
      { role: 'user', content: { type: 'text', text: 't' }, _meta: {} },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'n', input: {}, _meta: {} }] },
      {
        role: 'user',
        content: [
          {
            ...{ type: 'tool_result', toolUseId: 'i', content: [{ type: 'text', text: 't' }], _meta: {} },
            ...{ isError: false, structuredContent: {} },
          },
        ],
      },
    ],
    ...{ maxTokens: 5, systemPrompt: 's', temperature: 0.1, stopSequences: ['x'], metadata: {}, _meta: {} },
    modelPreferences: {
      ...{ hints: [{ name: 'm' }], costPriority: 0, speedPriority: 1, intelligencePriority: 0.5 },
    },
    includeContext: 'none',
    tools: [
      {
        ...{ name: 'n', inputSchema: schema, title: 't', description: 'd', outputSchema: schema, icons, _meta: {} },
        ...{ annotations: { title: 't', ...hints }, execution: { taskSupport: 'optional' } },
      },
    ],
    toolChoice: { mode: 'auto' },
  };
  const required = [
    ...['messages', 'messages.0.role', 'messages.0.content', 'messages.0.content.type', 'messages.0.content.text'],
    ...['messages.1.role', 'messages.1.content', 'messages.1.content.0.type', 'messages.1.content.0.id'],
    ...['messages.1.content.0.name', 'messages.1.content.0.input'],
    ...['messages.2.role', 'messages.2.content', 'messages.2.content.0.type', 'messages.2.content.0.toolUseId'],
    ...['messages.2.content.0.content', 'messages.2.content.0.content.0.type', 'messages.2.content.0.content.0.text'],
    ...['maxTokens', 'tools.0.name', 'tools.0.inputSchema', 'tools.0.inputSchema.type', 'tools.0.outputSchema.type'],
    'tools.0.icons.0.src',
  ];

  test('in full', () => {
    expect(isPrompt(prompt)).toBe(true);
    expect(partsOf(isPrompt, prompt)).toEqual({ nullable: [], required });
  });

  test.each<[string, readonly string[]]>([
    ['includeContext', ['none', 'thisServer', 'allServers']],
    ['toolChoice', ['auto', 'required', 'none']],
  ])('%s is one of %j', (member, values) => {
    const of = (value: string) => isPrompt({ ...prompt, [member]: member === 'toolChoice' ? { mode: value } : value });
    expect(values.map(of)).toEqual([true, true, true]);
    expect(of('other')).toBe(false);
  });

  test.each([
    ['a role that there is not', { messages: [{ role: 'system', content: { type: 'text', text: 't' } }] }],
    ['a block that only results have', { messages: [{ role: 'user', content: { type: 'resource', resource: {} } }] }],
    ['a schema of no object', { tools: [{ name: 'n', inputSchema: { type: 'array' } }] }],
    ['a part of a token', { maxTokens: 1.5 }],
  ])('%s is refused', (_title, more) => {
    expect(isPrompt({ ...prompt, ...more })).toBe(false);
  });
});
