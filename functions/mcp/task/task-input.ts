import { asOf } from '../../tasks/deadlines.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isLarge, moved } from '../../tasks/s3/moved-input.ts';
import { moveInput } from '../../tasks/transitions.ts';
import type { ServerContext } from '../context.ts';

/** After an error of S3, a container moves no input for this time, in ms. */
const PAUSE = 30_000;
const failedAt = new WeakMap<ServerContext, number>();

/**
 * Moves the input of a waiting task to S3 if it is too large for the record: questions that were asked before any run
 * (`askFirst`), or that the reconciler wrote. Later reads are cheap. Best effort: a later read tries again.
 */
export async function moveLargeInput(stored: TaskRecord, server: ServerContext): Promise<void> {
  if (stored.status !== 'input_required' || !isLarge(stored)) return;
  const now = server.now();
  if (now - (failedAt.get(server) ?? -PAUSE) < PAUSE) return;
  // Readers check questions only while they are in the record, so invalid ones stay there.
  if (asOf(stored, now)?.status !== 'input_required') return;
  try {
    const { record, text } = moved(await server.inputs.whole(stored));
    await server.inputs.put(record, text);
    await server.store.applyBlind(stored, moveInput(stored, record));
  } catch (error) {
    failedAt.set(server, server.now());
    logUnexpected(error, 'moving input');
  }
}
