import type { Questions } from '../../tasks/questions/question.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import type { NewTask } from '../../tasks/transitions/begin.ts';
import type { ToolEntry } from '../manifest.ts';
import type { RequestId } from '../protocol/jsonrpc.ts';

/** A task as a client sees it now: the record, and the time to wait before the next poll, in ms. */
export interface TaskView {
  readonly record: TaskRecord;
  readonly pollInterval: number;
}

/** The shapes of one revision. Both revisions are pure projections of the same record (F-05 to F-08). */
export interface Wire {
  /** What a task keeps of the revision that created it. */
  readonly marks: Pick<NewTask, 'legacy'>;
  /** Whether a client asks for a task by `params.task`. Else each call of a client that declares tasks asks for one. */
  readonly taskByParam: boolean;
  /** Whether a call without a task asks on its stream. Else its questions are its answer, and the client calls again. */
  readonly asksOnStream: boolean;
  /** Whether a client resumes a stream by its last event id. */
  readonly resumable: boolean;
  /** What `tasks/get` shows of a task beside its status. */
  readonly shows: { readonly questions?: true; readonly result: 'shown' | 'status' };
  /** Whether a cancel of a task that has ended is acknowledged like any other. */
  readonly cancelsEnded: boolean;
  /** Whether headers repeat arguments. */
  readonly paramHeaders: boolean;
  /** Members of an answer that a client may keep. */
  readonly cache: object;
  /** Members of an answer that a client may not keep: it depends on the caller, or changes soon. */
  readonly uncached: object;
  /** Any result without a method below. */
  result(result: object, resultType?: 'complete' | 'input_required'): object;
  tool(entry: ToolEntry): object;
  toolResult(result: ToolResult): object;
  /** `immediateResponse`: what a host may show its model while the task runs (C-13). */
  taskCreated(task: TaskView, immediateResponse: string): object;
  task(task: TaskView): object;
  taskCancelled(task: TaskView): object;
}

/** The shapes of a revision of the modern kind: its calls ask in their answers, and it has `subscriptions/listen`. */
export interface ModernWire extends Wire {
  readonly asksOnStream: false;
  questions(questions: Questions): object;
  /** The first message of a listen stream: the served part of the filter (D-29, D-30, E-25). */
  acknowledged(listenId: RequestId, taskIds: readonly string[] | undefined): object;
  /** The notification of a changed task, with all that tasks/get returns (E-24). */
  taskNotification(listenId: RequestId, task: TaskView): object;
  /** The result that ends a listen stream (D-31). */
  listenEnded(listenId: RequestId): object;
}
