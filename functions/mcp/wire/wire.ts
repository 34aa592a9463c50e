import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import type { ToolEntry } from '../manifest.ts';
import type { Era } from '../protocol/versions.ts';

/** A task as a reader sees it now: the record, and how long to wait before the next look (ms). */
export interface TaskView {
  readonly record: TaskRecord;
  readonly pollInterval: number;
}

/** How one revision spells what both know. Two pure projections of one record (F-05 to F-08). */
export interface Wire {
  readonly era: Era;
  /** Any result that has no shape of its own here. */
  result(result: object, resultType?: 'complete' | 'input_required'): object;
  tool(entry: ToolEntry): object;
  toolResult(result: ToolResult): object;
  /** `immediateResponse`: what a host may tell its model while the task runs (C-13). */
  taskCreated(task: TaskView, immediateResponse: string): object;
  task(task: TaskView): object;
  taskCancelled(task: TaskView): object;
}
