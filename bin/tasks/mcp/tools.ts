import type { Operator, Outcome } from '../../../functions/operator/acts/act.ts';
import { answerTask } from '../../../functions/operator/acts/answer.ts';
import { cancelTask, failTask } from '../../../functions/operator/acts/end.ts';
import { rerunTask } from '../../../functions/operator/acts/rerun.ts';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { endSubscription } from '../../../functions/operator/events/end.ts';
import { explain } from '../../../functions/operator/explain/index.ts';
import { findTask } from '../../../functions/operator/find.ts';
import { show } from '../../../functions/operator/show.ts';
import type { TaskKey } from '../../../functions/tasks/record.ts';
import { filterOf } from '../options.ts';
import { firstFull, logsReader, shownPage } from '../reads.ts';
import { listSubscriptions } from '../subscriptions/verbs.ts';
import {
  ANSWERS,
  FILTERS,
  FORCE,
  OWNER,
  PART,
  PAYLOAD,
  REASON,
  SINCE,
  SUBSCRIBER,
  SUBSCRIPTION,
  TASK_ID,
} from './inputs.ts';
import { acted, explained, listed, logged, type Report, shown, subscribed } from './report.ts';

/** The rights with which the server was started. */
export interface Allowed {
  /** Whether it offers tools that change tasks. */
  readonly writes: boolean;
  /** Whether it shows texts of clients and tools. */
  readonly payload: boolean;
}

/** The input of a tool: some of these members, which its schema has checked. */
export interface Input {
  readonly taskId?: string;
  readonly owner?: string;
  readonly payload?: boolean;
  readonly status?: string;
  readonly tool?: string;
  readonly olderThan?: string;
  readonly newerThan?: string;
  readonly endsWithin?: string;
  readonly cursor?: string;
  readonly part?: string;
  readonly since?: string;
  readonly subscription?: string;
  readonly reason?: string;
  readonly force?: boolean;
  readonly answers?: Readonly<Record<string, unknown>>;
}

type Run = (input: Input, context: OperatorContext) => Promise<Report>;

export interface VerbTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly writes: boolean;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Runs the verb. Throws UsageError, OperatorError, and errors of AWS. */
  readonly run: Run;
}

/** The tools that a server with these rights offers. */
export function toolsFor({ writes, payload }: Allowed): readonly VerbTool[] {
  const seen = payload ? { payload: PAYLOAD } : {};
  const one = { taskId: TASK_ID, owner: OWNER };
  const shows = (input: Input): boolean => payload && input.payload === true;
  const reading = [
    tool('list_tasks', 'List tasks', {
      description:
        'Lists tasks, the newest first, 50 on a page. Without a status: the open ones. Filters can be combined. If the answer has a cursor, there are more.',
      properties: FILTERS,
      run: listTasks,
    }),
    tool('show_task', 'Show a task', {
      description: `Shows what happened to one task: times, rounds, runs, failed attempts, who answered.${payload ? ' With payload: arguments, open questions, answers and result, too.' : ''}`,
      properties: { ...one, ...seen },
      required: ['taskId'],
      run: async (input, context) => shown(await show(await keyOf(input, context), shows(input), context)),
    }),
    tool('explain_task', 'Explain a task', {
      description:
        'Explains why one task is not done, or why it ended so: the cause, when it ends at the latest, and what to do next. Call this first for a task that seems stuck.',
      properties: { ...one, ...seen },
      required: ['taskId'],
      run: async (input, context) => explained(await explain(await keyOf(input, context), shows(input), context)),
    }),
    tool('task_logs', 'Read logs', {
      description:
        'Reads the log lines of the server that name one task (taskId), or the latest ones of one part of the server (part). Give one of both.',
      properties: { ...one, part: PART, since: SINCE, ...seen },
      run: async (input, context) => {
        const read = await logsReader({ ...input, payload: shows(input) }, context);
        return logged(await read());
      },
    }),
    tool('list_subscriptions', 'List subscriptions', {
      description:
        'Lists the live subscriptions to MCP events of the owner of one task (taskId), or of an owner (owner), and which of them fail. Give one of both.',
      properties: { taskId: TASK_ID, owner: SUBSCRIBER, ...seen },
      run: async (input, context) => subscribed(await listSubscriptions({ ...input, payload: shows(input) }, context)),
    }),
  ];
  const acting = [
    act('cancel_task', 'Cancel a task', (key, operator, context) => cancelTask(key, operator, context), {
      description: 'Ends one open task as cancelled, and stops its run. Its client sees `cancelled`. Cannot be undone.',
    }),
    act('fail_task', 'Fail a task', (key, operator, context) => failTask(key, operator, context), {
      description: 'Ends one open task as failed, and stops its run. Its client sees `failed`. Cannot be undone.',
    }),
    act('answer_task', 'Answer a task', answer, {
      description: `Answers open questions of one task in place of its client. ${payload ? 'show_task with payload shows the questions.' : 'This server does not show the questions: it was started without --payload.'} Answer only what a person has decided. The first answer wins.`,
      properties: { answers: ANSWERS },
      required: ['answers'],
    }),
    act('rerun_task', 'Run a task again', rerun, {
      description:
        'Starts a new task from the arguments of one that has ended. Refuses a tool that may not be repeated, unless force is true.',
      properties: { force: FORCE },
    }),
    tool(
      'end_subscription',
      'End a subscription',
      {
        description:
          'Ends one subscription to MCP events. What is queued for its receiver is dropped. Its client may subscribe again.',
        properties: { subscription: SUBSCRIPTION, owner: SUBSCRIBER, reason: REASON },
        required: ['subscription', 'owner', 'reason'],
        async run({ subscription = '', owner = '', reason = '' }, context) {
          return acted(await endSubscription(owner, subscription, { who: await context.who(), reason }, context));
        },
      },
      true,
    ),
  ];
  return writes ? [...reading, ...acting] : reading;
}

async function listTasks(input: Input, context: OperatorContext): Promise<Report> {
  const times = { 'older-than': input.olderThan, 'newer-than': input.newerThan, 'ends-within': input.endsWithin };
  const { owner, status, tool: name, cursor } = input;
  const filter = filterOf({ owner, status, tool: name, ...times }, context.now());
  return listed(shownPage(await firstFull(filter, cursor, context)));
}

const answer: Act = (key, operator, context, { answers = {} }) => {
  const pairs = Object.entries(answers).map(([name, value]) => [name, textFor(value)] as const);
  return answerTask(key, pairs, operator, context);
};

const rerun: Act = (key, operator, context, { force }) => rerunTask(key, force === true, operator, context);

const keyOf = ({ taskId = '', owner }: Input, { reads }: OperatorContext): Promise<TaskKey> =>
  findTask(taskId, owner, reads);

const textFor = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

interface Described {
  readonly description: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

function tool(name: string, title: string, described: Described & { readonly run: Run }, writes = false): VerbTool {
  const { description, properties = {}, required = [], run } = described;
  const inputSchema = { type: 'object', properties, required, additionalProperties: false };
  return { name, title, description, writes, inputSchema, run };
}

type Act = (key: TaskKey, operator: Operator, context: OperatorContext, input: Input) => Promise<Outcome>;

/** Makes a tool from an act, which here is always on one task, and always has a reason. */
function act(
  name: string,
  title: string,
  perform: Act,
  { properties, required = [], description }: Described,
): VerbTool {
  const all = { taskId: TASK_ID, ...properties, reason: REASON, owner: OWNER };
  const run: Run = async (input, context) => {
    const operator = { who: await context.who(), reason: input.reason ?? '' };
    return acted(await perform(await keyOf(input, context), operator, context, input));
  };
  const needed = ['taskId', ...required, 'reason'];
  return tool(name, title, { description, properties: all, required: needed, run }, true);
}
