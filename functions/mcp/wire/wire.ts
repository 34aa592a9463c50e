import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import type { ToolEntry } from '../manifest.ts';
import type { Era } from '../protocol/versions.ts';

/** A task as a client sees it now: the record, and the time to wait before the next poll, in ms. */
export interface TaskView {
  readonly record: TaskRecord;
  readonly pollInterval: number;
}

/** The shapes of one revision. Both revisions are pure projections of the same record (F-05 to F-08). */
export interface Wire {
  readonly era: Era;
  /** Any result without a method below. */
  result(result: object, resultType?: 'complete' | 'input_required'): object;
  tool(entry: ToolEntry): object;
  toolResult(result: ToolResult): object;
  /** `immediateResponse`: what a host may show its model while the task runs (C-13). */
  taskCreated(task: TaskView, immediateResponse: string): object;
  task(task: TaskView): object;
  taskCancelled(task: TaskView): object;
}
