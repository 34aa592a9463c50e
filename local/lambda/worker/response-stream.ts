import { Writable } from 'node:stream';
import { type FromWorker, streamWindow } from '../protocol.ts';
import { runtimeError } from './failure.ts';

export interface ResponseStream extends Writable {
  setContentType(type: string): void;
  _onBeforeFirstWrite?: (write: (chunk: string | Uint8Array) => void) => void;
}

/** The target of a response stream. `done` is called when there is room for more. */
export interface Sink {
  write(bytes: Uint8Array, done: () => void): void;
  end(): void;
}

export interface PortSink extends Sink {
  acknowledge(bytes: number): void;
}

/**
 * Posts copies of chunks: the handler may fill its buffer again before a message leaves. Pauses the stream while more than a
 * window of bytes waits for the consumer.
 */
export function portSink(id: string, post: (message: FromWorker) => void): PortSink {
  let underWay = 0;
  let held: (() => void) | undefined;
  return {
    write(bytes, done) {
      if (bytes.length > 0) post({ type: 'chunk', id, bytes: new Uint8Array(bytes) });
      underWay += bytes.length;
      if (underWay <= streamWindow) done();
      else held = done;
    },
    end: () => post({ type: 'end', id }),
    acknowledge(bytes) {
      underWay -= bytes;
      if (!held || underWay > streamWindow) return;
      const done = held;
      held = undefined;
      done();
    },
  };
}

/** Buffers the whole response, for a streaming handler that is invoked without streaming. */
export function collectingSink(): Sink & { text(): string } {
  const chunks: Uint8Array[] = [];
  return {
    write(bytes, done) {
      chunks.push(bytes);
      done();
    },
    end: () => undefined,
    text: () => Buffer.concat(chunks).toString(),
  };
}

export function createResponseStream(sink: Sink): ResponseStream {
  const stream = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => sink.write(chunk, done),
    final(done) {
      sink.end();
      done();
    },
  });
  stream.on('error', () => undefined); // a write after the end is dropped and does not crash the runtime
  return withRuntimeMethods(stream);
}

/** Adds what the runtime adds to a Writable: the content type, the hook before the first write, objects as JSON. */
function withRuntimeMethods(stream: Writable): ResponseStream {
  const plainWrite = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let written = false;
  const response: ResponseStream = Object.assign(stream, {
    setContentType() {
      if (written) throw runtimeError('InvalidStreamingOperation', 'Cannot set content-type, too late.');
    },
    write(chunk: unknown, ...rest: unknown[]): boolean {
      if (!written) response._onBeforeFirstWrite?.((prelude) => plainWrite(prelude));
      written = true;
      return plainWrite(isBytes(chunk) ? chunk : JSON.stringify(chunk), ...rest);
    },
  });
  return response;
}

function isBytes(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || chunk instanceof Uint8Array;
}
