import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { discard, type FileSource, measuredBody } from '../../../../functions/tool/files/body.ts';
import { openFiles } from '../../../../functions/tool/files/files.ts';
import { noFiles } from '../../../../functions/tool/files/port.ts';
import { memoryFiles } from '../../../../functions/tool/files/testing.ts';
import { openNames } from '../../../../functions/tool/journal/names.ts';
import { event } from '../in-memory.ts';

const { task } = event();
if (task === undefined) throw new Error('no task');
const later = { ...task, attempt: 1 };

function filesOf(port = memoryFiles(), of = task, begin = () => {}) {
  const opened = openFiles({
    task: of,
    names: openNames(() => undefined),
    port,
    signal: new AbortController().signal,
    begin,
    mayStore: true,
  });
  return { ...opened, port, put: (name: string, body: FileSource) => opened.store(name, body, {}) };
}

/** Says that it is larger than it is. */
class Large extends Uint8Array {
  readonly #says: number;
  constructor(says: number) {
    super(1);
    this.#says = says;
  }
  override get length() {
    return this.#says;
  }
}

describe('the body of a file', () => {
  const read = (source: FileSource) => text(measuredBody('a', source).stream);

  test('gives texts or bytes, and nothing else', async () => {
    const numbers = async function* () {
      yield 7 as never;
    };
    await expect(read(numbers())).rejects.toThrow("File 'a': a stream gives texts or bytes");
  });

  test('has 5 GB at most, whatever its pieces', async () => {
    const pieces = async function* () {
      yield new Large(limits.files.bytes - 1);
      yield new Large(2);
    };
    await expect(read(pieces())).rejects.toThrow(`File 'a' is too large: a file takes ${limits.files.bytes} bytes`);
    const whole = async function* () {
      yield new Large(limits.files.bytes);
    };
    await expect(read(whole())).resolves.toBeDefined();
  });

  test('of several megabytes comes in pieces of one', async () => {
    const pieces: number[] = [];
    for await (const piece of measuredBody('a', Buffer.alloc(2 * 1024 ** 2)).stream) pieces.push(piece.length);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(1024 ** 2);
    expect(pieces.reduce((sum, bytes) => sum + bytes, 0)).toBe(2 * 1024 ** 2);
  });

  test('that is a stream ends, if no upload reads it', async () => {
    const node = Readable.from(['x']);
    await discard(node);
    expect(node.destroyed).toBe(true);
    let cancelled = false;
    await discard(
      new ReadableStream({
        cancel: () => {
          cancelled = true;
        },
      }),
    );
    expect(cancelled).toBe(true);
    const broken = new ReadableStream({ cancel: () => Promise.reject(new Error('no')) });
    await expect(discard(broken)).resolves.toBeUndefined();
  });
});

describe('the files of a run', () => {
  test('that an earlier run has stored count, and their new bodies are not read', async () => {
    const { port, put } = filesOf();
    const first = await put('a', 'one');
    const body = Readable.from(['two']);
    const again = filesOf(port, later);
    expect(await again.put('a', body)).toEqual(first);
    expect([body.destroyed, again.hasNew()]).toEqual([true, false]);
    let made = 0;
    const third = filesOf(port, later);
    expect(await third.store('a', () => `${++made}`, {})).toEqual(first);
    expect(made).toBe(0);
  });

  test('of two runs of one file the first counts in both', async () => {
    const [one, two] = [filesOf(), filesOf()];
    const other = await one.put('b', 'b');
    const first = await one.put('a', 'one');
    const second = openFiles({
      ...{
        task,
        names: openNames(() => undefined),
        signal: new AbortController().signal,
        begin: () => {},
        mayStore: true,
      },
      port: { ...one.port, upload: two.port.upload },
    });
    expect(await second.store('a', 'two', {})).toEqual(first);
    expect(first).not.toEqual(other);
  });

  test('are read again if a read fails: a retry of its step helps', async () => {
    const port = memoryFiles();
    let reads = 0;
    const read = async () => {
      if (++reads === 1) throw new Error('throttled');
      return [];
    };
    const { put } = filesOf({ ...port, read }, later);
    await expect(put('a', 'x')).rejects.toThrow('throttled');
    expect(await put('a', 'x')).toMatchObject({ name: 'a' });
  });

  test('are something new that the task has done', async () => {
    const { put, hasNew } = filesOf();
    expect(hasNew()).toBe(false);
    await put('a', 'x');
    expect(hasNew()).toBe(true);
  });

  test('do not begin when the run may begin nothing', async () => {
    const { put, port } = filesOf(memoryFiles(), task, () => {
      throw new Error('the round ends');
    });
    await expect(put('a', 'x')).rejects.toThrow('the round ends');
    expect(port.all()).toEqual({});
  });

  test('may be stored again after an upload that failed', async () => {
    const port = memoryFiles();
    const fails = { ...port, upload: () => Promise.reject(new Error('no S3')) };
    const { upload } = port;
    const { put } = filesOf(fails);
    await expect(put('a', 'x')).rejects.toThrow('no S3');
    Object.assign(fails, { upload });
    expect(await put('a', 'x')).toMatchObject({ name: 'a', size: 1 });
  });

  test('of a name that is too long are refused with the beginning of it', async () => {
    const name = 'n'.repeat(limits.files.name + 1);
    await expect(filesOf().put(name, 'x')).rejects.toThrow(`File '${'n'.repeat(64)}': a name has`);
  });

  test('are shown alone where there is no message', async () => {
    const { put, show, withPreview } = filesOf();
    expect(withPreview('')).toBe('');
    const link = await put('a', 'x');
    show(link);
    expect(withPreview('')).toBe(`Preview: ${link.uri}`);
    expect(withPreview('works')).toBe(`works\nPreview: ${link.uri}`);
  });

  test('in memory keep the first of a name, too', async () => {
    const port = memoryFiles();
    const file = { id: 'i', name: 'a', type: 't/t', bytes: 1, sha256: 's' };
    expect([await port.add(task, file), await port.add(task, { ...file, id: 'j' })]).toEqual([true, false]);
    expect([await port.add(task, { ...file, name: 'b' }), Object.keys(port.all())]).toEqual([true, ['a', 'b']]);
  });

  test('of a call without a task are an error', async () => {
    await expect(noFiles.read(task)).rejects.toThrow('A call without a task has no files');
  });
});
