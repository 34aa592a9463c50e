import { errorFacts } from '../../tasks/error-facts.ts';
import { InternalError } from '../../tasks/errors.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isOf, type StoredResult, storedResult } from '../../tasks/s3/result-ref.ts';
import type { ServerContext } from '../context.ts';
import { schemaToolOf, withCheckedResult } from './task-view.ts';

/**
 * A record whose result is about to be shown, with the result itself in the place of a reference to it
 * (docs/architecture.md, "The task record"), judged like any other. Only who shows a result calls this: a list never
 * fetches one.
 */
export async function withResult(record: TaskRecord, server: ServerContext): Promise<TaskRecord> {
  const shown = await withFetchedResult(record, server);
  const { owner, taskId, tool, status, isError } = shown;
  if (status === 'completed' || status === 'failed') {
    server.audit('retrieved', { owner, taskId, tool, status, ...(isError === true && { isError }) });
  }
  return shown;
}

async function withFetchedResult(record: TaskRecord, server: ServerContext): Promise<TaskRecord> {
  const stored = record.status === 'completed' ? storedResult(record.result ?? '') : undefined;
  if (stored === undefined) return record;
  return withCheckedResult({ ...record, result: await fetchResult(record, stored, server) }, server);
}

/** As withResult where only the status is shown, which depends on the result only if there is something to judge. */
export async function withCheckedStatus(record: TaskRecord, server: ServerContext): Promise<TaskRecord> {
  return schemaToolOf(record, server)?.validateOutput === undefined ? record : withFetchedResult(record, server);
}

/** The task is as it was, whatever S3 does: only this request fails, and says how to try again without a second call. */
async function fetchResult(record: TaskRecord, stored: StoredResult, server: ServerContext): Promise<string> {
  const { attempt = 0 } = stored;
  try {
    const text = await server.results.get({ ...record, attempt });
    if (isOf(stored, text)) return text;
    throw Object.assign(new Error('What is stored is not the text that the record names'), { name: 'ResultAltered' });
  } catch (error) {
    console.error(JSON.stringify({ event: 'result_unavailable', tool: record.tool, ...errorFacts(error) }));
    throw new InternalError(
      `The result of task ${record.taskId} cannot be read at the moment: ask for it again, the task itself is complete`,
      { reason: 'ResultUnavailable', taskId: record.taskId },
    );
  }
}
