import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { FunctionError } from '../../lambda/index.ts';
import { errorOf, pause, textOf, until, useBench } from './fixtures.ts';

const bench = useBench();

/** A streaming function whose body is the given code. */
const streaming = (code: string): string => `
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const begin = (stream, head = { statusCode: 200 }) => awslambda.HttpResponseStream.from(stream, head);
  exports.handler = awslambda.streamifyResponse(async (event, stream, context) => { ${code} });`;

function failed(errorType: string): unknown {
  return expect.objectContaining({ name: 'FunctionError', errorType });
}

describe('a streamed response', () => {
  it('has the status, headers and cookies given to HttpResponseStream.from', async () => {
    const head = {
      statusCode: 201,
      headers: { 'x-a': '1' },
      multiValueHeaders: { 'x-b': ['2', '3'] },
      cookies: ['c=4'],
    };
    const spec = bench.define('head', streaming('stream = begin(stream, event); stream.write("body"); stream.end();'));
    const { body, ...rest } = await bench.open([spec]).invokeStreaming('head', JSON.stringify(head));
    expect(rest).toEqual({ statusCode: 201, headers: { 'x-a': '1', 'x-b': ['2', '3'] }, cookies: ['c=4'] });
    await expect(textOf(body)).resolves.toBe('body');
  });

  it('is there as it is written, not when the function ends', async () => {
    const source = streaming(
      `stream = begin(stream); stream.write('one'); await sleep(100); stream.write('two'); stream.end();`,
    );
    const { body } = await bench.open([bench.define('flow', source)]).invokeStreaming('flow', '{}');
    const seen: [string, number][] = [];
    for await (const chunk of body) seen.push([String(chunk), performance.now()]);
    expect(seen.map(([text]) => text)).toEqual(['one', 'two']);
    expect((seen[1]?.[1] ?? 0) - (seen[0]?.[1] ?? 0)).toBeGreaterThan(50);
  });

  // An event between two writes shows what had come before it.
  const held = async (name: string, code: string) => {
    const lines: string[] = [];
    const spec = bench.define(name, streaming(code));
    const lambda = bench.open([spec], { onLog: (_name, line) => lines.push(line) });
    const seen: string[] = [];
    const { body } = await lambda.invokeStreaming(name, '{}', { holdsChunks: true });
    for await (const chunk of body) seen.push(`${lines.filter((line) => /^\d$/.test(line)).at(-1)} ${chunk}`);
    return seen;
  };

  it('may be kept by Lambda until the next write or the end', async () => {
    const writes = ['one', 'two', 'three'].map(
      (text, n) => `console.log(${n}); stream.write('${text}'); await sleep(100);`,
    );
    const code = `stream = begin(stream); stream.write(''); await sleep(100); ${writes.join(' ')} console.log(9); stream.end();`;
    expect(await held('held', code)).toEqual(['1 one', '2 two', '9 three']);
  });

  it('may be kept longer if it begins in the chunk of its metadata; a turn writes one chunk', async () => {
    const code = `stream = begin(stream); stream.write('one'); await sleep(100);
      console.log(1); stream.write('two'); stream.write('three'); await sleep(100);
      console.log(2); stream.write('four'); await sleep(100); console.log(9); stream.end();`;
    expect(await held('joint', code)).toEqual(['2 onetwothree', '9 four']);
  });

  it('keeps bytes as they are, and writes objects as JSON', async () => {
    const source = streaming(
      `stream = begin(stream); stream.write(Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 255, 128])); stream.write({ a: 1 }); stream.end();`,
    );
    const { body } = await bench.open([bench.define('bytes', source)]).invokeStreaming('bytes', '{}');
    const bytes = Buffer.concat(await body.toArray());
    expect(bytes.equals(Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 255, 128]), Buffer.from('{"a":1}')]))).toBe(
      true,
    );
  });

  it('may be empty, when the stream was written to once', async () => {
    const source = streaming('stream = begin(stream, { statusCode: 204 }); stream.write(""); stream.end();');
    const { body, ...rest } = await bench.open([bench.define('empty', source)]).invokeStreaming('empty', '{}');
    expect(rest).toEqual({ statusCode: 204, headers: {} });
    await expect(textOf(body)).resolves.toBe('');
  });

  it('ends for its reader before the function ends; the worker stays busy until that is done', async () => {
    const source = streaming(
      `stream = begin(stream); stream.write('x'); stream.end(); await sleep(300); console.log('worked on');`,
    );
    const lines: string[] = [];
    const lambda = bench.open([bench.define('after', source)], { onLog: (_name, line) => lines.push(line) });
    await textOf((await lambda.invokeStreaming('after', '{}')).body);
    expect(lines).toEqual([]);
    expect(lambda.workers()[0]?.busy).toBe(1);
    await until(() => lambda.workers()[0]?.busy === 0);
    expect(lines).toEqual(['worked on']);
  });

  it('pauses the function when its reader stops reading', async () => {
    const source = streaming(`stream = begin(stream); let sent = 0;
      for (let i = 0; i < 64; i++) {
        if (!stream.write(Buffer.alloc(16384, 'x'))) await new Promise((resolve) => stream.once('drain', resolve));
        console.log(++sent);
      }
      stream.end();`);
    let sent = 0;
    const lambda = bench.open([bench.define('held', source)], {
      onLog: (_name, line) => {
        sent = Number(line);
      },
    });
    const { body } = await lambda.invokeStreaming('held', '{}');
    await until(() => sent > 3);
    await pause(50);
    expect(sent).toBeLessThan(20);
    expect((await textOf(body)).length).toBe(64 * 16384);
    expect(sent).toBe(64);
  });

  it("works with middy's handler, bundled as deployed", async () => {
    const entry = `import middy from '@middy/core'; import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
      export const handler = middy({ executionMode: executionModeStreamifyResponse })
        .handler(async (event) => ({ statusCode: 202, headers: { 'content-type': 'text/plain' }, body: 'z'.repeat(event.length) }));`;
    const { outputFiles } = buildSync({
      stdin: { contents: entry, resolveDir: import.meta.dirname },
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'cjs',
      mainFields: ['module', 'main'],
      write: false,
    });
    const lambda = bench.open([bench.define('middy', outputFiles[0]?.text ?? '')]);
    for (const length of [0, 5, 300_000]) {
      const { body, ...rest } = await lambda.invokeStreaming('middy', JSON.stringify({ length }));
      expect(rest).toEqual({ statusCode: 202, headers: { 'content-type': 'text/plain' } });
      expect((await textOf(body)).length).toBe(length);
    }
  });
});

describe('a streaming function that fails', () => {
  it('before it began to answer: the invocation rejects', async () => {
    const source = streaming('if (event.begin) begin(stream); throw new TypeError("too early");');
    const lambda = bench.open([bench.define('early', source)]);
    for (const payload of ['{}', '{"begin":true}']) {
      const error = await lambda.invokeStreaming('early', payload).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(FunctionError);
      expect(error).toMatchObject({ errorType: 'TypeError', message: 'TypeError: too early' });
      expect(JSON.parse((error as FunctionError).payload)).toMatchObject({ errorMessage: 'too early' });
    }
  });

  it('while it answers: the body is destroyed', async () => {
    const source = streaming(
      'stream = begin(stream); stream.write("half"); await sleep(20); throw new TypeError("too late");',
    );
    const { body } = await bench.open([bench.define('half', source)]).invokeStreaming('half', '{}');
    await expect(textOf(body)).rejects.toEqual(failed('TypeError'));
  });

  it('after its answer has ended: the answer stands', async () => {
    const source = streaming(
      'stream = begin(stream); stream.write("whole"); stream.end(); await sleep(20); throw new Error("too late");',
    );
    const lines: string[] = [];
    const lambda = bench.open([bench.define('whole', source)], { onLog: (_name, line) => lines.push(line) });
    const { body } = await lambda.invokeStreaming('whole', '{}');
    await until(() => lines.join().includes('too late'));
    await expect(textOf(body)).resolves.toBe('whole');
  });

  it('by its timeout, before and while it answers, and when it never ends its stream', async () => {
    const source = streaming(
      'if (event.begin) { stream = begin(stream); stream.write("x"); } if (!event.leave) await sleep(60000);',
    );
    const lambda = bench.open([bench.define('late', source, { timeoutSeconds: 0.15 })]);
    await expect(lambda.invokeStreaming('late', '{}')).rejects.toEqual(failed('Sandbox.Timedout'));
    const { body } = await lambda.invokeStreaming('late', '{"begin":true,"leave":true}');
    await expect(textOf(body)).rejects.toEqual(failed('Sandbox.Timedout'));
  });

  it('by a crash: the body is destroyed even without an error listener', async () => {
    const source = streaming('stream = begin(stream); stream.write("x"); await sleep(60000);');
    const lambda = bench.open([bench.define('crash', source)]);
    const { body } = await lambda.invokeStreaming('crash', '{}');
    lambda.kill('crash');
    await until(() => body.destroyed);
    expect(body.errored).toEqual(failed('Runtime.ExitError'));
  });

  it.each([
    ['never writes', 'begin(stream).end();', 'ended before its metadata'],
    ['ends with its only chunk', 'begin(stream).end("chunk");', 'ended before its metadata'],
    ['sends no metadata', 'stream.write("x".repeat(20000)); stream.end();', '16 KB'],
    ['sends metadata that are not an object', 'begin(stream, [1]).write("x"); stream.end();', 'not a JSON object'],
  ])('as it %s: API Gateway could not read it', async (name, code, message) => {
    const fn = name.replaceAll(' ', '-');
    const lambda = bench.open([bench.define(fn, streaming(code))]);
    const error = await lambda.invokeStreaming(fn, '{}').catch((reason: unknown) => reason);
    expect(error).toEqual(failed('Runtime.InvalidStreamingResponse'));
    expect((error as Error).message).toContain(message);
    await until(() => lambda.workers()[0]?.busy === 0);
    expect(lambda.workers()[0]?.count).toBe(1);
  });

  it('by wrong use', async () => {
    const lambda = bench.open([
      bench.define('type', streaming('stream.write("x"); stream.setContentType("a/b");')),
      bench.define('sync', 'exports.handler = awslambda.streamifyResponse(() => 1);'),
      bench.define(
        'twice',
        streaming('stream = begin(stream); stream.write("x"); stream.end(); stream.write("y"); await sleep(5);'),
      ),
    ]);
    await expect(lambda.invokeStreaming('type', '{}')).rejects.toEqual(failed('Runtime.InvalidStreamingOperation'));
    await expect(lambda.invokeStreaming('sync', '{}')).rejects.toThrow('does not support non-async handlers');
    await expect(textOf((await lambda.invokeStreaming('twice', '{}')).body)).resolves.toBe('x');
    await until(() => lambda.workers()[2]?.busy === 0);
    expect(lambda.workers()[2]?.count).toBe(1);
  });
});

describe('a consumer that disconnects', () => {
  const source = streaming(`await sleep(event.wait ?? 0); stream = begin(stream);
    for (let i = 0; i < 40; i++) {
      if (!stream.write(Buffer.alloc(16384))) await new Promise((resolve) => stream.once('drain', resolve));
      await sleep(1);
    }
    stream.end(); console.log('done');`);

  it('does not stop or hold up the function: it destroys the body', async () => {
    const lines: string[] = [];
    const lambda = bench.open([bench.define('gone', source)], { onLog: (_name, line) => lines.push(line) });
    const { body } = await lambda.invokeStreaming('gone', '{}');
    await pause(20);
    body.destroy();
    await until(() => lines.includes('done') && lambda.workers()[0]?.busy === 0);
    expect(lambda.workers()[0]?.count).toBe(1);
  });
});

describe('the two kinds of invocation', () => {
  it('a streaming function invoked plainly answers the whole stream, metadata included', async () => {
    const source = streaming(
      'if (event.fail) throw new Error("no"); if (event.raw) stream.write("ra"); else stream = begin(stream); stream.write("w"); stream.end();',
    );
    const lambda = bench.open([bench.define('plainly', source)]);
    expect((await lambda.invoke('plainly', '{"raw":1}')).payload).toBe('raw');
    expect((await lambda.invoke('plainly', '{}')).payload).toBe(`{"statusCode":200}${'\0'.repeat(8)}w`);
    expect(errorOf(await lambda.invoke('plainly', '{"fail":true}')).errorMessage).toBe('no');
  });

  it('a plain function cannot be invoked for a stream, and is not run', async () => {
    const lines: string[] = [];
    const spec = bench.define('plain-only', 'exports.handler = async () => console.log("ran");');
    const lambda = bench.open([spec], { onLog: (_name, line, stream) => stream === 'stdout' && lines.push(line) });
    await expect(lambda.invokeStreaming('plain-only', '{}')).rejects.toThrow('awslambda.streamifyResponse');
    expect(lines).toEqual([]);
  });

  it('unknown functions are refused for both', async () => {
    await expect(bench.open([]).invokeStreaming('unknown', '{}')).rejects.toMatchObject({ status: 404 });
  });
});
