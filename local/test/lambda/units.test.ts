import { describe, expect, it } from 'vitest';
import { createLambda, type FunctionSpec } from '../../lambda/index.ts';
import { checkPayload } from '../../lambda/limits.ts';
import { lineSplitter } from '../../lambda/line-splitter.ts';
import { preludeDelimiter } from '../../lambda/protocol.ts';
import { createRegistry } from '../../lambda/registry.ts';
import { streamReply } from '../../lambda/streaming.ts';
import type { StreamResult } from '../../lambda/types.ts';

const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:f';
const spec: FunctionSpec = {
  name: 'f',
  arn,
  codePath: '.',
  handler: 'index.handler',
  timeoutSeconds: 1,
  memoryMb: 128,
  environment: {},
};

describe('the registry', () => {
  const find = createRegistry([{ spec, value: 'found' }]);

  it.each(['f', 'f:1', 'f:$LATEST', arn, `${arn}:live`, '123456789012:function:f', '123456789012:function:f:live'])(
    'knows %s',
    (name) => {
      expect(find(name)).toBe('found');
    },
  );

  it.each([
    'g',
    '',
    'F',
    arn.replace('123456789012', '210987654321'),
    arn.replace('eu-central-1', 'us-east-1'),
    `${arn}x`,
    'function:',
  ])('does not know %s', (name) => expect(() => find(name)).toThrow('Function not found'));

  it('refuses two functions of one name', () => {
    expect(() => createLambda([spec, spec])).toThrow('same name');
  });
});

describe('lines', () => {
  it('are put together from pieces, per stream, and the last one may be open', () => {
    const lines: string[] = [];
    const splitter = lineSplitter((line, stream) => lines.push(`${stream}: ${line}`));
    splitter.add('stdout', 'a');
    splitter.add('stderr', 'x\n');
    splitter.add('stdout', 'b\n\nc');
    splitter.flush();
    splitter.flush();
    expect(lines).toEqual(['stderr: x', 'stdout: ab', 'stdout: ', 'stdout: c']);
  });
});

describe('the payload check', () => {
  it('counts bytes, not characters', () => {
    const twoByte = JSON.stringify('ü'.repeat(524_288));
    expect(() => checkPayload(twoByte, false)).not.toThrow();
    expect(() => checkPayload(twoByte, true)).toThrow('1048578 byte payload is too large');
    expect(() => checkPayload(JSON.stringify('x'.repeat(1_048_574)), true)).not.toThrow();
  });
});

describe('a stream reply', () => {
  function open(): { reply: ReturnType<typeof streamReply>; result: Promise<StreamResult> } {
    const { promise, resolve, reject } = Promise.withResolvers<StreamResult>();
    return { reply: streamReply({ resolve, reject }), result: promise };
  }

  it('finds its metadata however the bytes are cut', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"statusCode":203,"headers":{"a":"ü"}}'),
      preludeDelimiter,
      Buffer.from('body'),
    ]);
    for (let size = 1; size <= bytes.length; size++) {
      const { reply, result } = open();
      let taken = 0;
      let cuts = 0;
      for (let at = 0; at < bytes.length; at += size, cuts++) reply.chunk(bytes.subarray(at, at + size), () => taken++);
      reply.end();
      const { body, ...rest } = await result;
      expect(rest).toEqual({ statusCode: 203, headers: { a: 'ü' } });
      expect((await body.toArray()).join('')).toBe('body');
      expect(taken).toBe(cuts);
    }
  });

  it('takes everything once its body is destroyed', async () => {
    const { reply, result } = open();
    reply.chunk(Buffer.concat([Buffer.from('{}'), preludeDelimiter]), () => undefined);
    (await result).body.destroy();
    let taken = 0;
    for (let i = 0; i < 10; i++) reply.chunk(Buffer.alloc(100_000), () => taken++);
    reply.end();
    reply.failed({ errorType: 'E', errorMessage: 'm' });
    expect(taken).toBe(10);
  });

  it('gives room only as the body is read', async () => {
    const { reply, result } = open();
    reply.chunk(Buffer.concat([Buffer.from('{}'), preludeDelimiter]), () => undefined);
    const { body, statusCode } = await result;
    expect(statusCode).toBe(200);
    let taken = 0;
    for (let i = 0; i < 10; i++) reply.chunk(Buffer.alloc(50_000), () => taken++);
    expect(taken).toBeLessThan(3);
    reply.end();
    expect((await body.toArray()).reduce((sum, chunk: Buffer) => sum + chunk.length, 0)).toBe(500_000);
    expect(taken).toBe(10);
  });
});
