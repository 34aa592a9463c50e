import { Unavailable } from '../tasks/errors.ts';
import { errorFacts } from '../tasks/log.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { ResultStoreError } from '../tasks/results/result-store.ts';
import { InputLost } from '../tasks/s3/input-store.ts';
import { loseInput } from '../tasks/transitions/end.ts';
import { untilStopped } from '../tasks/transitions/run.ts';
import type { RunContext } from './ports.ts';

/** The record with all its input. Fails the task if its input is lost. Throws Unavailable. */
export async function wholeInput(record: TaskRecord, context: RunContext): Promise<TaskRecord> {
  try {
    return await context.inputs.whole(record);
  } catch (error) {
    if (!(error instanceof InputLost)) return unavailable(error, 'reading input', context);
    context.log('unexpected_error', { where: 'reading input', ...errorFacts(error) });
    const now = context.now();
    const failed = await context.store.apply(record, untilStopped(record, loseInput(record, now), now));
    // Another request has changed the record.
    if (failed === undefined) throw new Unavailable();
    return failed;
  }
}

/** The record, with its questions from S3 if it waits. Throws Unavailable. */
export async function withQuestions(record: TaskRecord, context: RunContext): Promise<TaskRecord> {
  return record.status === 'input_required' && record.asked === undefined ? wholeInput(record, context) : record;
}

/** Stores in S3 what `moved` took out of a record. The record MUST be written after it. Throws Unavailable. */
export async function storeInput(
  record: TaskRecord,
  text: string,
  context: Pick<RunContext, 'inputs' | 'log'>,
): Promise<void> {
  await context.inputs.put(record, text).catch((error: unknown) => unavailable(error, 'storing input', context));
}

/** Throws an outage of S3 as Unavailable, and anything else as it is. */
export function unavailable(error: unknown, where: string, { log }: Pick<RunContext, 'log'>): never {
  if (!(error instanceof ResultStoreError)) throw error;
  log('unexpected_error', { where, ...errorFacts(error) });
  throw new Unavailable(error);
}
