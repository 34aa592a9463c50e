import { closedExecution, closedRecord, type ExecutionStore } from './executions.ts';
import { openJournal } from './journal/file.ts';
import { type Running, readJournal } from './journal/read.ts';
import type { Journal } from './journal/records.ts';
import type { StepFunctionsOptions } from './types.ts';

/** AWS frees the name of an execution this time after it has closed. */
const NAME_TAKEN_MS = 90 * 24 * 60 * 60 * 1000;

/** Fills the store with the executions that closed in earlier processes. Returns the executions that continue. */
export function restore(
  { journal: file, onNotice }: Pick<StepFunctionsOptions, 'journal' | 'onNotice'>,
  store: ExecutionStore,
  now: number,
): { readonly journal: Journal | undefined; readonly running: readonly Running[] } {
  if (file === undefined) return { journal: undefined, running: [] };
  const { closed, running, cut } = readJournal(file);
  if (cut !== undefined) onNotice?.(cut);
  for (const record of closed) {
    if (record.stopDate < now - NAME_TAKEN_MS) continue;
    const execution = closedExecution(record);
    store.add(execution);
    store.closed(execution);
  }
  return { journal: openJournal({ file, running, closed: () => store.all().flatMap(closedRecord) }), running };
}
