import type { TaskRecord } from '../../tasks/record.ts';
import { storedResult } from '../../tasks/results/result-ref.ts';

export interface StoredFrame<F> {
  readonly record: TaskRecord;
  readonly frame: F;
}

/** A result can have 6 MB, so few are in memory at once. One at a time after a failure: each failure is a line of log. */
const AT_ONCE = 4;

/** Whether what a client sees of the record lies in S3. */
export function liesInS3({ status, asked, inputRef, result = '' }: TaskRecord): boolean {
  if (status === 'input_required') return asked === undefined && inputRef !== undefined;
  return status === 'completed' && storedResult(result) !== undefined;
}

/** Bytes of S3 that show a task, as far as its record says. */
export const storedBytes = ({ result = '' }: TaskRecord): number => storedResult(result)?.bytes ?? 0;

/** The frames of one stream that need an object of S3, or what makes them from it. A slow object delays no other task. */
export interface StoredFrames<F> {
  /** Yields each frame once it is made, until all are or `timeout` is over. A later call yields the rest. */
  of(records: readonly TaskRecord[], timeout: () => Promise<void>): AsyncGenerator<StoredFrame<F>, void, void>;
  /** Resolves once nothing is being fetched: Lambda freezes a container between requests. */
  settled(): Promise<void>;
}

/** @param frameOf gives undefined when the object cannot be read now. It never rejects */
export function storedFrames<F>(frameOf: (record: TaskRecord) => Promise<F | undefined>): StoredFrames<F> {
  const fetches = new Map<string, Promise<{ readonly record: TaskRecord; readonly frame: F | undefined }>>();
  const attempts = new Map<string, number>();
  let failed = false;
  const attemptsOf = ({ taskId }: TaskRecord) => attempts.get(taskId) ?? 0;
  return {
    async *of(records, timeout) {
      // Objects that did not come let the others go first.
      const waiting = records
        .filter(({ taskId }) => !fetches.has(taskId))
        .sort((a, b) => attemptsOf(a) - attemptsOf(b));
      let over: Promise<void> | undefined;
      for (;;) {
        for (const record of waiting.splice(0, (failed ? 1 : AT_ONCE) - fetches.size)) {
          attempts.set(record.taskId, attemptsOf(record) + 1);
          const fetch = frameOf(record).then((frame) => ({ record, frame }));
          fetches.set(record.taskId, fetch);
        }
        if (fetches.size === 0) return;
        over ??= timeout();
        const fetched = await Promise.race([...fetches.values(), over]);
        if (fetched === undefined) return;
        const { record, frame } = fetched;
        fetches.delete(record.taskId);
        failed = frame === undefined;
        // What else S3 refuses now is asked for after the next read.
        if (failed) waiting.length = 0;
        if (frame !== undefined) yield { record, frame };
      }
    },
    async settled() {
      await Promise.all(fetches.values());
    },
  };
}
