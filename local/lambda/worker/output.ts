import type { FromWorker } from '../protocol.ts';
import { currentEvent } from './event.ts';

type Written = (error?: Error | null) => void;

/** Sends output over the message port, which keeps the order of lines and results. A thread's streams may get lost. */
export function captureOutput(post: (message: FromWorker) => void): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    process[stream].write = (chunk: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written) => {
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      post({ type: 'log', id: currentEvent.getStore(), stream, text });
      const done = typeof encoding === 'function' ? encoding : written;
      if (done) process.nextTick(done);
      return true;
    };
  }
}
