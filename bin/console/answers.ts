import type { Explanation } from '../../functions/operator/explain/index.ts';
import type { Progress, Story, Unreadable } from '../../functions/operator/show.ts';
import type { Timeline } from '../../functions/operator/timeline.ts';
import type { LogText } from './log-text.ts';

/** What the page gets from the console, as JSON. Times in ms since the epoch. */

export interface ServerAnswer {
  /** The stack and the construct. */
  readonly name: string;
  readonly region: string;
  /** Whether it is the server of `dev`. */
  readonly local: boolean;
  /** Pause between two looks of the page, in ms. */
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
  /** When every reader sees an open task as ended, at the latest. */
  readonly endsBy?: number;
  /** Of a working task. Its message only in `dev`. */
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
  /** The oldest first. */
  readonly lines: readonly LogText[];
  /** What is not shown, and why. */
  readonly hidden: readonly string[];
}

export interface ErrorAnswer {
  readonly error: string;
}

/** What an acting route gets. */
export interface ActRequest {
  readonly id: string;
  readonly owner?: string;
  readonly reason?: string;
  /** answer: by the keys of the questions, each as a client would send it. */
  readonly answers?: Readonly<Record<string, unknown>>;
}
