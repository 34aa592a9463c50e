import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { FileBody } from '../../../../functions/tool/index.ts';
import { defineTool } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';

const anything = { description: 'd', inputSchema: { type: 'object' }, files: true } as const;
const stores = (body: FileBody, name = 'a.txt', contentType?: string) =>
  defineTool(anything, (_args, task) => task.file(name, body, contentType === undefined ? {} : { contentType }));
const text = (content: Uint8Array | undefined) => Buffer.from(content ?? []).toString();
async function* pieces() {
  yield 'one ';
  yield Buffer.from('two');
}

describe('a file of a task', () => {
  test.each([
    ['text', () => 'one two'],
    ['bytes', () => Buffer.from('one two')],
    ['a Blob', () => new Blob(['one two'])],
    ['a stream of Node', () => Readable.from(pieces())],
    ['a stream of the web', () => new Blob(['one two']).stream()],
    ['a generator', pieces],
    ['a promise', async () => 'one two'],
  ])('is made of %s, with its size and hash', async (_what, make) => {
    const { result, files } = await runTool(stores(make, 'a.txt', 'text/plain'), {});
    const sha256 = createHash('sha256').update('one two').digest('hex');
    expect({ ...files['a.txt'], content: text(files['a.txt']?.content) }).toEqual({
      ...{ type: 'text/plain', bytes: 7, sha256, content: 'one two' },
    });
    expect(result).toEqual({
      type: 'resource_link',
      uri: expect.stringMatching(/^mcp-task-file:[\w-]{22}\.[\w-]{43}\/a\.txt$/),
      name: 'a.txt',
      mimeType: 'text/plain',
      size: 7,
      _meta: { 'mcp-task-server/sha256': sha256 },
    });
  });

  test('is made once: a run after a crash gets the link, and does not make it again', async () => {
    let made = 0;
    const tool = defineTool(anything, async (_args, task) => {
      const file = await task.file('a.txt', () => `content ${++made}`);
      await task.step('after', () => 1);
      return file.uri;
    });
    const { files } = await runTool(tool, {}, { crashAfter: 'after' });
    expect([made, text(files['a.txt']?.content)]).toEqual([1, 'content 1']);
  });

  test('is not there if its body throws, and the tool may try again', async () => {
    const broken = async function* () {
      yield 'one';
      throw new Error('the camera is off');
    };
    const tool = defineTool(anything, async (_args, task) => {
      const problem = await task.file('a.txt', broken).catch(({ message }: Error) => message);
      await task.file('b.txt', 'two');
      return problem;
    });
    const { result, files } = await runTool(tool, {});
    expect([result, Object.keys(files)]).toEqual(['the camera is off', ['b.txt']]);
  });

  test.each([
    ['a name with a slash', stores('x', 'a/b'), "File 'a/b': a name has no slash and no control character"],
    ['no name', stores('x', ''), "File '': a name has 1 to 200 characters"],
    ['a type that is none', stores('x', 'a', 'text'), "File 'a': 'text' is no media type"],
    ['a body that is none', stores(7 as never), 'A file is made of a text, bytes, a Blob or a stream'],
  ])('is refused for %s', async (_what, tool, message) => {
    const { result, files } = await runTool(tool, {});
    expect([result, files]).toEqual([{ content: [{ type: 'text', text: message }], isError: true }, {}]);
  });

  test('is refused without files: true, twice by one name, and in a direct call', async () => {
    const { files: _, ...without } = anything;
    const forgot = defineTool(without, (_args, task) => task.file('a', 'x'));
    await expect(runTool(forgot, {})).rejects.toThrow("File 'a': say files: true in the definition of the tool");
    const twice = defineTool(anything, async (_args, task) => [await task.file('a', 'x'), await task.file('a', 'y')]);
    await expect(runTool(twice, {})).rejects.toThrow("File 'a' comes twice in one run");
    const { result } = await runTool(stores('x'), {}, { direct: true });
    expect(JSON.stringify(result)).toContain('a call without a task has no files');
  });

  test('a task has 100 of them, and the 101st is refused by name', async () => {
    const tool = defineTool(anything, async (_args, task) => {
      for (let n = 0; n <= limits.files.most; n++) await task.file(`f${n}`, 'x');
    });
    const { result, files } = await runTool(tool, {});
    expect(Object.keys(files)).toHaveLength(100);
    expect(JSON.stringify(result)).toContain("File 'f100': a task has 100 files at most");
  });
});

describe('a preview', () => {
  test('stands behind the last message and behind later ones, which are cut for it', async () => {
    const tool = defineTool(anything, async (_args, task) => {
      await task.progress('First', { progress: 1, total: 2 });
      const file = await task.file(`${'x'.repeat(195)}.png`, 'x');
      await task.preview(file);
      await task.progress('y'.repeat(500));
      return file.uri;
    });
    const { result, progress } = await runTool(tool, {});
    const messages = progress.map(({ message }) => message);
    expect(messages.slice(0, 2)).toEqual(['First', `First\nPreview: ${result}`]);
    expect(messages[2]).toHaveLength(500);
    expect(messages[2]?.endsWith(`yyy\nPreview: ${result}`)).toBe(true);
  });
});
