import { setBounded } from '../../tasks/bounded-map.ts';
import { InternalError } from '../../tasks/errors.ts';
import { errorFacts, logEvent } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isOf, placeOf, type StoredResult, storedResult } from '../../tasks/results/result-ref.ts';
import { beginning } from '../../tasks/shape.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import { TIMED_OUT } from '../bounded-validation.ts';
import type { ServerContext, Tool } from '../context.ts';
import type { Validator } from '../manifest.ts';
import { errorResult, errorSummary, toolResult } from '../wire/tool-result.ts';
import { freshLinks } from './links.ts';

/**
 * A record with as much of its result as its reader needs. `shown`: see `fetched`. `status`: whether it is an error, which
 * depends on a result in S3 only if the tool has an outputSchema.
 */
export async function withResult(
  record: TaskRecord,
  needed: 'shown' | 'status',
  server: ServerContext,
): Promise<TaskRecord> {
  if (needed === 'shown') return (await fetched(record, server))();
  const stored = referenceOf(record);
  return stored === undefined ? record : withCheckedStatus(record, stored, server);
}

/**
 * Fetches the result from S3 if the record only refers to it (docs/architecture/tasks.md, "The task record"). What is
 * returned checks it like any other, which may take seconds of the processor, and writes the audit line `retrieved`: call
 * it only to show the result. A list never fetches one.
 */
export async function fetched(record: TaskRecord, server: ServerContext): Promise<() => TaskRecord> {
  const stored = referenceOf(record);
  const result = stored && (await fetchResult(record, stored, server));
  const fresh = await freshLinks(record, result ?? record.result ?? '', server);
  return () => {
    const { result: text, ...rest } = result === undefined ? record : checked({ ...record, result }, server);
    const shown = { ...rest, ...(text !== undefined && { result: fresh(text) }) };
    const { owner, taskId, tool, status, isError } = shown;
    if (status === 'completed' || status === 'failed') {
      server.audit('retrieved', { owner, taskId, tool, status, ...(isError === true && { isError }) });
    }
    return shown;
  };
}

const referenceOf = ({ status, result = '' }: TaskRecord): StoredResult | undefined =>
  status === 'completed' ? storedResult(result) : undefined;

/** What the check of results in S3 has changed, by the result and its schema: a client that polls on does not read them again. */
const checks = new Map<string, { readonly found: Pick<TaskRecord, 'isError' | 'result'>; readonly until: number }>();
const REMEMBERED = 1_000;
/** How long a container remembers that a check took too long, in milliseconds: another one may end in time. */
const TRY_AGAIN = 30_000;

async function withCheckedStatus(record: TaskRecord, stored: StoredResult, server: ServerContext): Promise<TaskRecord> {
  const validate = schemaToolOf(record, server)?.validateOutput;
  if (validate === undefined) return record;
  const mark = `${record.tool} ${record.outputSchemaId} ${stored.sha256}`;
  const known = checks.get(mark);
  if (known !== undefined && Date.now() < known.until) {
    setBounded(checks, mark, known, REMEMBERED);
    return { ...record, ...known.found };
  }
  const result = await fetchResult(record, stored, server);
  // Of the last value that was checked. An error result is not.
  validate.errors = null;
  const found = changesOf(record, result, server);
  const until = validate.errors === TIMED_OUT ? Date.now() + TRY_AGAIN : Number.POSITIVE_INFINITY;
  setBounded(checks, mark, { found, until }, REMEMBERED);
  return { ...record, ...found };
}

function changesOf(record: TaskRecord, result: string, server: ServerContext): Pick<TaskRecord, 'isError' | 'result'> {
  const found = checked({ ...record, result }, server);
  if (found.isError === record.isError) return {};
  // A status shows how an error begins.
  if (found.isError) return { isError: true, result: JSON.stringify(errorResult(errorSummary(found))) };
  return { isError: false };
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

/**
 * A record whose result is checked, if it holds one: a result that does not fit the tool's outputSchema becomes an error
 * result. The schema is the one that held when the task was created: a deployment must not change what readers
 * see. A result in S3 is checked when it is shown.
 */
export function withCheckedResult(record: TaskRecord, server: ServerContext): TaskRecord {
  return storedResult(record.result ?? '') === undefined ? checked(record, server) : record;
}

function checked(record: TaskRecord, server: ServerContext): TaskRecord {
  if (record.status !== 'completed' || record.result === undefined) return record;
  const returned = toolResult(record.result);
  // The result's text decides, not the envelope around it.
  if (returned.isError === true && record.isError === true) return record;
  const result = checkedResult(returned, schemaToolOf(record, server));
  if (result.isError === true) return { ...record, isError: true, result: JSON.stringify(result) };
  return record.isError === true ? { ...record, isError: false } : record;
}

/** The tool, if its outputSchema is the one that held when the task was created. */
function schemaToolOf({ tool, outputSchemaId }: TaskRecord, server: ServerContext): Tool | undefined {
  const judge = server.tools.get(tool);
  return judge?.entry.outputSchemaId === outputSchemaId ? judge : undefined;
}

/** The result, or an error result if it does not fit the tool's outputSchema. */
export function checkedResult(result: ToolResult, tool: Tool | undefined): ToolResult {
  const validate = tool?.validateOutput;
  if (validate === undefined || result.isError === true || validate(result.structuredContent)) return result;
  logMisfit(tool?.entry.name ?? '', validate);
  return errorResult(`Tool ${tool?.entry.name} returned structured content that does not fit its outputSchema`);
}

/** What is logged already, by tool: every reader checks the result again. */
const misfits = new Map<string, Set<string>>();
/** Names of members may come from a client. For each problem, and for each tool in a container. */
const MISFIT = { characters: 200, bytes: 300, lines: 10 };

/** For the author of the tool: where its result does not fit, and which rule of the schema it breaks. Never a value. */
function logMisfit(tool: string, { errors }: Validator): void {
  const problems = (errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message }) =>
      beginning(`${instancePath || '/'} ${message}`, MISFIT.characters, MISFIT.bytes),
    );
  const mark = problems.join();
  const logged = misfits.get(tool) ?? new Set();
  if (logged.has(mark) || logged.size === MISFIT.lines) return;
  misfits.set(tool, logged.add(mark));
  logEvent('result_misfit', { tool, problems }, 'warn');
}
