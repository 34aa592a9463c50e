import { Readable } from 'node:stream';
import type { HttpReply } from './http.ts';

/**
 * What a method returns if its answer takes a while: frames, the last of which carries the answer (A-07, A-11). `gone`
 * is aborted when the client has disconnected. The frames can end then.
 */
export class EventStream {
  readonly frames: (gone: AbortSignal) => AsyncGenerator<string>;

  constructor(frames: (gone: AbortSignal) => AsyncGenerator<string>) {
    this.frames = frames;
  }
}

/** One message. With an id, a 2025-11-25 client can resume after it (B-11). */
export function messageFrame(message: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

/** An event id and empty data: from here on the client can resume the stream, `retry` ms after its end (B-10). */
export function primingFrame(id: string, retry: number): string {
  return `id: ${id}\nretry: ${retry}\ndata: \n\n`;
}

/** Keeps proxies from closing a quiet stream. */
export const KEEP_ALIVE = ': keep-alive\n\n';
/** After this time without a frame, in ms. */
export const QUIET = 15_000;

/** These keep proxies from buffering frames (docs/protocol.md 1.3). */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

export function streamReply(stream: EventStream, headers: Readonly<Record<string, string>>): HttpReply {
  return {
    status: 200,
    headers: { ...STREAM_HEADERS, ...headers },
    body: Readable.from(untilGone(stream), { objectMode: false }),
  };
}

/**
 * Frames are made when they are read, so a slow reader slows the work down. When the reader disconnects, `return`
 * aborts `gone` at once. A plain generator would notice only at its next frame, and would poll until then.
 */
function untilGone({ frames }: EventStream): AsyncIterable<string> {
  const gone = new AbortController();
  const made = frames(gone.signal);
  const iterator: AsyncIterator<string> = {
    next: () => made.next(),
    return: () => {
      gone.abort();
      return made.return(undefined);
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
