import { asOf } from '../../tasks/deadlines.ts';
import { Unavailable } from '../../tasks/errors.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { InputLost } from '../../tasks/s3/input-store.ts';
import { isLarge, moved } from '../../tasks/s3/moved-input.ts';
import { loseInput, moveInput } from '../../tasks/transitions.ts';
import type { Server } from '../context.ts';

/** How long a container leaves records as they are after S3 has failed, in ms. */
const PAUSE = 30_000;
const failedAt = new WeakMap<Server, number>();

/**
 * Moves the input of a task that waits to S3 if it is too large for the record. The workflow writes questions as the tool
 * returned them, so the first look pays for their size, and no later one does. Best effort: a later look tries again.
 */
export async function keepSmall(stored: TaskRecord, server: Server): Promise<void> {
  if (stored.status !== 'input_required' || !isLarge(stored)) return;
  const now = server.now();
  if (now - (failedAt.get(server) ?? -PAUSE) < PAUSE) return;
  // Readers judge questions only while they are in the record: invalid ones stay there.
  if (asOf(stored, now)?.status !== 'input_required') return;
  try {
    const { record, text } = moved(await server.inputs.whole(stored));
    await server.inputs.put(record, text);
    await server.store.applyBlind(stored, moveInput(stored, record));
  } catch (error) {
    failedAt.set(server, now);
    logUnexpected(error, 'moving input');
  }
}

/** The record; with its questions, if it waits and they lie in S3. Throws Unavailable. */
export async function withQuestions(record: TaskRecord, server: Server): Promise<TaskRecord> {
  return record.status === 'input_required' && record.asked === undefined ? wholeInput(record, server) : record;
}

/** A record with all its input; failed, if that can no longer be read. Throws Unavailable. */
export async function wholeInput(record: TaskRecord, server: Server): Promise<TaskRecord> {
  try {
    return await server.inputs.whole(record);
  } catch (error) {
    logUnexpected(error, 'reading input');
    if (!(error instanceof InputLost)) throw new Unavailable();
    const failed = await server.store.apply(record, loseInput(record, server.now()));
    // Another request has changed it since.
    if (failed === undefined) throw new Unavailable();
    return failed;
  }
}

/** Stores what `moved` took out of a record, before the record is written. Throws Unavailable. */
export async function storeInput(record: TaskRecord, text: string, server: Server): Promise<void> {
  try {
    await server.inputs.put(record, text);
  } catch (error) {
    logUnexpected(error, 'storing input');
    throw new Unavailable();
  }
}
