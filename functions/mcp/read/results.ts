import { setBounded } from '../../tasks/bounded-map.ts';
import { InternalError } from '../../tasks/errors.ts';
import { errorFacts, logEvent } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isOf, placeOf, type StoredResult, storedResult } from '../../tasks/results/result-ref.ts';
import type { ServerContext } from '../context.ts';
import { schemaToolOf, withCheckedResult } from './read.ts';

/**
 * A record with its result, fetched from S3 if the record only refers to it (docs/architecture/tasks.md, "The task record"),
 * and checked like any other. Writes the audit line `retrieved`, so call it only to show a result. A list never fetches
 * one.
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

/** Results in S3 that fit the schema they were checked against: who polls on does not read them again. */
const fitting = new Map<string, true>();
const REMEMBERED = 1_000;

/** As withResult, if only the status is shown. It depends on the result only if the tool has an outputSchema. */
export async function withCheckedStatus(record: TaskRecord, server: ServerContext): Promise<TaskRecord> {
  const stored = record.status === 'completed' ? storedResult(record.result ?? '') : undefined;
  if (stored === undefined || schemaToolOf(record, server)?.validateOutput === undefined) return record;
  const mark = `${record.tool} ${record.outputSchemaId} ${stored.sha256}`;
  if (fitting.has(mark)) return record;
  const checked = await withFetchedResult(record, server);
  if (checked.isError !== record.isError) return checked;
  setBounded(fitting, mark, true, REMEMBERED);
  return record;
}

/** An outage of S3 fails this request, not the task. The error says how to get the result without a new call. */
async function fetchResult(record: TaskRecord, stored: StoredResult, server: ServerContext): Promise<string> {
  try {
    const text = await server.results.get(placeOf(record, stored));
    if (isOf(stored, text)) return text;
    throw Object.assign(new Error('What is stored is not the text that the record names'), { name: 'ResultAltered' });
  } catch (error) {
    logEvent('result_unavailable', { tool: record.tool, ...errorFacts(error) });
    throw new InternalError(
      `The result of task ${record.taskId} cannot be read at the moment: ask for it again, the task itself is complete`,
      { reason: 'ResultUnavailable', taskId: record.taskId },
      error,
    );
  }
}
