import type { Outcome } from '../../functions/operator/acts/act.ts';
import { answerTask } from '../../functions/operator/acts/answer.ts';
import { cancelTask } from '../../functions/operator/acts/end.ts';
import { rerunTask } from '../../functions/operator/acts/rerun.ts';
import type { OperatorContext } from '../../functions/operator/context.ts';
import { OperatorError } from '../../functions/operator/errors.ts';
import { explain } from '../../functions/operator/explain/index.ts';
import { findTask } from '../../functions/operator/find.ts';
import { progressIn } from '../../functions/operator/list.ts';
import { logsOf } from '../../functions/operator/logs.ts';
import type { Payload } from '../../functions/operator/payload.ts';
import { type Progress, progressOf, type Story, show } from '../../functions/operator/show.ts';
import { timelineOf } from '../../functions/operator/timeline.ts';
import { recordOf, seenNow } from '../../functions/operator/view.ts';
import type { TaskKey } from '../../functions/tasks/record.ts';
import type { StoredTask } from '../../functions/tasks/table/operator-reads.ts';
import { failVisibleAt, isTerminal } from '../../functions/tasks/transitions/change.ts';
import { filterOf } from '../tasks/options.ts';
import { noteOf } from '../tasks/print-list.ts';
import { firstFull } from '../tasks/reads.ts';
import { logText } from './log-text.ts';

/** The server that the page shows. */
export interface ConsoleFacts {
  /** Whether it is the server of `dev`. */
  readonly local: boolean;
  /** The options that name the server in the commands that the page shows, such as `--stack Shop`. */
  readonly options: string;
}

/** One task of a list. Times are in milliseconds since the epoch. */
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

/** The request of an act. */
export interface ActRequest {
  readonly id: string;
  readonly owner?: string;
  readonly reason?: string;
  /** The answers by the keys of their questions, each as a client would send it. Only for `answer`. */
  readonly answers?: Readonly<Record<string, unknown>>;
}

/** Pauses between two reads of the page, in milliseconds: on a deployed server each read costs money. */
const PAUSE = { local: 1_000, deployed: 3_000 } as const;
/** The reason of an act on the server of `dev`, the same as for the verbs. */
const BY_HAND = 'by hand, in dev';

/** The most log lines of one answer: the latest. */
const LINES = 300;

/** The input of a read route: the values of its query. */
export type Query = Readonly<Record<string, string | undefined>>;

export const READS = {
  async server(_query: Query, context: OperatorContext, { local }: ConsoleFacts) {
    const { name, region, tools } = context.server;
    const asTasks = [...tools].filter(([, { engine }]) => engine !== undefined).map(([tool]) => tool);
    return { name, region, local, pause: local ? PAUSE.local : PAUSE.deployed, tools: asTasks.toSorted() };
  },
  async tasks({ cursor, ...values }: Query, context: OperatorContext, { local }: ConsoleFacts) {
    const now = context.now();
    const page = await firstFull(filterOf(values, now), cursor === '' ? undefined : cursor, context);
    const progress = await progressIn(page, local, context);
    return { ...page, now, tasks: page.tasks.map((task) => rowOf(task, progress.get(task.taskId), now)) };
  },
  /** Reads a task. With `payload=yes` the explanation uses the result, too. It names rules of the schema, and no value. */
  async task(query: Query, context: OperatorContext, { local, options }: ConsoleFacts) {
    const key = await keyOf(query, context);
    const [story, explained] = await Promise.all([
      show(key, false, context),
      explain(key, query.payload === 'yes', context),
    ]);
    const next = explained.next.map((command) => command.replace(/^(mcp-task-server tasks .*)$/, `$1${options}`));
    const now = context.now();
    const timeline = 'unreadable' in story ? undefined : timelineOf(story, now);
    const shown = 'unreadable' in story || !local ? story : await withMessage(story, context);
    return { now, story: shown, explanation: { ...explained, next }, ...(timeline && { timeline }) };
  },
  /** Reads arguments, questions, answers and result, if the operator asks for them and has the right. */
  async payload(query: Query, context: OperatorContext): Promise<Payload> {
    const story = await show(await keyOf(query, context), true, context);
    if ('unreadable' in story)
      throw new OperatorError('Another release of the server stored it: its payload is unknown');
    return story.payload ?? {};
  },
  /** Reads the log lines of a task and its tool, in dev only: on AWS each search costs money, and the verb reads them. */
  async logs(query: Query, context: OperatorContext, { local }: ConsoleFacts) {
    if (!local) throw new OperatorError('The page shows log lines in dev only: use mcp-task-server tasks logs');
    const { lines, hidden } = await logsOf(await keyOf(query, context), { payload: true }, context);
    const older = lines.length - LINES;
    return {
      lines: lines.slice(-LINES).map(logText),
      hidden: older > 0 ? [...hidden, `${older} older lines`] : hidden,
    };
  },
} as const;

/** The answer of a read route, as JSON. */
export type Answer<Route extends keyof typeof READS> = Awaited<ReturnType<(typeof READS)[Route]>>;

export const ACTS = {
  async cancel(request: ActRequest, context: OperatorContext, facts: ConsoleFacts): Promise<Outcome> {
    return cancelTask(await keyOf(request, context), await operatorOf(request, context, facts), context);
  },
  async rerun(request: ActRequest, context: OperatorContext, facts: ConsoleFacts): Promise<Outcome> {
    const operator = await operatorOf(request, context, facts);
    return rerunTask(await keyOf(request, context), false, operator, context);
  },
  async answer(request: ActRequest, context: OperatorContext, facts: ConsoleFacts): Promise<Outcome> {
    const operator = await operatorOf(request, context, facts);
    const given = Object.entries(request.answers ?? {});
    const pairs = given.map(([question, answer]) => [question, JSON.stringify(answer)] as const);
    return answerTask(await keyOf(request, context), pairs, operator, context);
  },
} as const;

/** Adds the progress of a working task, with its message. */
async function withMessage(story: Story, { reads }: OperatorContext): Promise<Story> {
  if (story.progress === undefined) return story;
  const progress = progressOf(story, await reads.progress(story, true));
  return progress === undefined ? story : { ...story, progress };
}

async function keyOf({ id, owner }: Query | ActRequest, context: OperatorContext): Promise<TaskKey> {
  if (typeof id !== 'string' || id === '') throw new OperatorError('Which task? Give its id');
  return findTask(id, typeof owner === 'string' && owner !== '' ? owner : undefined, context.reads);
}

async function operatorOf({ reason = '' }: ActRequest, context: OperatorContext, { local }: ConsoleFacts) {
  const given = String(reason).trim();
  if (given === '' && !local) throw new OperatorError('Every act is audited: give a reason');
  return { who: await context.who(), reason: given === '' ? BY_HAND : given };
}

function rowOf(stored: StoredTask, progress: Progress | undefined, now: number): TaskRow {
  const { taskId, owner, tool, status, createdAt } = stored;
  const facts = { taskId, owner, tool: String(tool), status: String(status), createdAt: Number(createdAt) };
  const record = recordOf(stored);
  if (record === undefined) return { ...facts, note: 'of another release' };
  const seenAs = seenNow(record, now)?.status;
  return {
    ...facts,
    ...(seenAs !== record.status && { seenAs: seenAs ?? 'gone' }),
    ...(record.isError === true && { isError: true }),
    ...(!isTerminal(record.status) && { endsBy: failVisibleAt(record) }),
    ...(progress && { progress }),
    note: noteOf(record, seenAs),
  };
}
