import { Readable } from 'node:stream';
import type { HttpReply } from './http.ts';

/**
 * What a method returns when its answer takes a while: frames, of which the last carries the answer (A-07, A-11).
 * `gone` is aborted when nobody takes them any more: there is nothing left to look for then.
 */
export class EventStream {
  readonly frames: (gone: AbortSignal) => AsyncGenerator<string>;

  constructor(frames: (gone: AbortSignal) => AsyncGenerator<string>) {
    this.frames = frames;
  }
}

/** One message; with an id a 2025-11-25 client can resume after it (B-11). */
export function messageFrame(message: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

/** An event id and empty data: from here on the stream can be resumed, `retry` ms after it has ended (B-10). */
export function primingFrame(id: string, retry: number): string {
  return `id: ${id}\nretry: ${retry}\ndata: \n\n`;
}

/** Keeps proxies from taking a quiet stream for a dead one. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/** No proxy may keep a frame back (docs/protocol.md 1.3). */
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
 * Frames are made as they are read, so a slow reader holds back the work, too. One that goes away is known by a write
 * that fails: a generator alone would hear of it at its next frame only, and look for that in the meantime.
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
