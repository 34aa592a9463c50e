import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { limits } from '../../tasks/limits.ts';
import { ToolError } from '../errors.ts';

/** What a file is made of: text, bytes, or a stream of them, of Node or of the web. */
export type FileSource = string | Uint8Array | Blob | ReadableStream | Readable | AsyncIterable<string | Uint8Array>;

/** A source, or a function that makes it: it is called only where the file is not stored yet. */
export type FileBody = FileSource | (() => FileSource | Promise<FileSource>);

export interface FileOptions {
  /** The media type. @default 'application/octet-stream' @example 'video/mp4' */
  readonly contentType?: string;
}

/** Bytes of a piece of text or of bytes that is whole already: the uploader copies what it gets. */
const PIECE = 1024 ** 2;

/** A body that is read once, and what is known of it after that. */
export function measuredBody(name: string, source: FileSource) {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of iterable(source)) {
      const part = typeof piece === 'string' ? Buffer.from(piece) : piece;
      if (!(part instanceof Uint8Array)) throw new ToolError(`File '${name}': a stream gives texts or bytes`);
      bytes += part.length;
      if (bytes > limits.files.bytes) {
        throw new ToolError(`File '${name}' is too large: a file takes ${limits.files.bytes} bytes at most`);
      }
      hash.update(part);
      yield part;
    }
  }
  return {
    stream: Readable.from(pieces(), { objectMode: false }),
    measure: () => ({ bytes, sha256: hash.digest('hex') }),
  };
}

function iterable(source: FileSource): AsyncIterable<unknown> | Iterable<unknown> {
  if (typeof source === 'string') return cut(Buffer.from(source));
  if (source instanceof Uint8Array) return cut(source);
  if (source instanceof Blob) return source.stream();
  if (Symbol.asyncIterator in Object(source)) return source as AsyncIterable<unknown>;
  throw new ToolError('A file is made of a text, bytes, a Blob or a stream');
}

function* cut(whole: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < whole.length; at += PIECE) yield whole.subarray(at, at + PIECE);
}

/** Ends a stream that is not read, so that what feeds it ends, too. */
export async function discard(body: FileBody): Promise<void> {
  if (body instanceof Readable) body.destroy();
  else if (body instanceof ReadableStream) await body.cancel().catch(() => {});
}
