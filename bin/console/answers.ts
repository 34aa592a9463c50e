import type { Explanation } from '../../functions/operator/explain/index.ts';
import type { Progress, Story, Unreadable } from '../../functions/operator/show.ts';
import type { Timeline } from '../../functions/operator/timeline.ts';
import type { LogText } from './log-text.ts';

/** The answers of the console to its page, as JSON. Times are in milliseconds since the epoch. */

export interface ServerAnswer {
  /** The stack and the construct. */
  readonly name: string;
  readonly region: string;
  /** Whether it is the server of `dev`. */
  readonly local: boolean;
  /** Pause between two reads of the page, in milliseconds. */
  readonly pause: number;
  readonly tools: readonly string[];
}

/** One task of a list. */
export interface TaskRow {
  readonly taskId: string;
  readonly owner: string;
  readonly tool: string;
  readonly status: string;
  /** The status that readers see, if it is another one. */
  readonly seenAs?: string;
  readonly createdAt: number;
  /** Whether the result is an error. */
  readonly isError?: boolean;
  /** The time from which every reader sees an open task as ended. */
  readonly endsBy?: number;
  /** The progress of a working task. It has a message only in `dev`. */
  readonly progress?: Progress;
  readonly note: string;
}

export interface ListAnswer {
  readonly now: number;
  readonly tasks: readonly TaskRow[];
  readonly cursor?: string;
}

export interface TaskAnswer {
  readonly now: number;
  readonly story: Story | Unreadable;
  readonly explanation: Explanation;
  readonly timeline?: Timeline;
}

export interface LogsAnswer {
  /** The lines, oldest first. */
  readonly lines: readonly LogText[];
  /** The kinds of lines that are not shown, and why. */
  readonly hidden: readonly string[];
}

export interface ErrorAnswer {
  readonly error: string;
}

/** The request of an act. */
export interface ActRequest {
  readonly id: string;
  readonly owner?: string;
  readonly reason?: string;
  /** The answers by the keys of their questions, each as a client would send it. Only for `answer`. */
  readonly answers?: Readonly<Record<string, unknown>>;
}
