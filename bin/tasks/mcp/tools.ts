import type { TaskArguments, TaskVerb } from '../options.ts';
import { ANSWERS, FILTERS, FORCE, OWNER, PART, PAYLOAD, REASON, SINCE, TASK_ID } from './inputs.ts';

/** What the server was started with. */
export interface Allowed {
  /** Tools that change tasks. */
  readonly writes: boolean;
  /** What clients and tools wrote. */
  readonly payload: boolean;
}

/** One verb as a tool. */
export interface VerbTool {
  readonly verb: TaskVerb;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly writes: boolean;
  /** JSON Schema of its input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** The tools that a server with these rights offers. */
export function toolsFor({ writes, payload }: Allowed): readonly VerbTool[] {
  const seen = payload ? { payload: PAYLOAD } : {};
  const one = { taskId: TASK_ID, owner: OWNER };
  const reading = [
    tool('list', 'list_tasks', 'List tasks', {
      description:
        'Lists tasks, the newest first, 50 on a page. Without a status: the open ones. Filters can be combined. If the answer has a cursor, there are more.',
      properties: FILTERS,
    }),
    tool('show', 'show_task', 'Show a task', {
      description: `Shows what happened to one task: times, rounds, runs, failed attempts, who answered.${payload ? ' With payload: arguments, open questions, answers and result, too.' : ''}`,
      properties: { ...one, ...seen },
      required: ['taskId'],
    }),
    tool('explain', 'explain_task', 'Explain a task', {
      description:
        'Explains why one task is not done, or why it ended so: the cause, when it ends at the latest, and what to do next. Call this first for a task that seems stuck.',
      properties: { ...one, ...seen },
      required: ['taskId'],
    }),
    tool('logs', 'task_logs', 'Read logs', {
      description:
        'Reads the log lines of the server that name one task (taskId), or the latest ones of one part of the server (part). Give one of both.',
      properties: { ...one, part: PART, since: SINCE, ...seen },
    }),
  ];
  const acting = [
    act('cancel', 'cancel_task', 'Cancel a task', {
      description: 'Ends one open task as cancelled, and stops its run. Its client sees `cancelled`. Cannot be undone.',
    }),
    act('fail', 'fail_task', 'Fail a task', {
      description: 'Ends one open task as failed, and stops its run. Its client sees `failed`. Cannot be undone.',
    }),
    act('answer', 'answer_task', 'Answer a task', {
      description: `Answers open questions of one task in place of its client. ${payload ? 'show_task with payload shows the questions.' : 'This server does not show the questions: it was started without --payload.'} Answer only what a person has decided. The first answer wins.`,
      properties: { answers: ANSWERS },
      required: ['answers'],
    }),
    act('rerun', 'rerun_task', 'Run a task again', {
      description:
        'Starts a new task from the arguments of one that has ended. Refuses a tool that may not be repeated, unless force is true.',
      properties: { force: FORCE },
    }),
  ];
  return writes ? [...reading, ...acting] : reading;
}

/** What the verb gets. No value is read as an option. */
export function argumentsFor(
  { verb }: VerbTool,
  given: Readonly<Record<string, unknown>>,
  { payload }: Allowed,
): TaskArguments {
  const { taskId, answers = {}, ...options } = given;
  const pairs = Object.entries(answers as object).map(([key, value]) => `${key}=${textFor(value)}`);
  const values = Object.entries(options).map(([name, value]) => [optionNamed(name), value]);
  return {
    verb,
    words: [...(typeof taskId === 'string' ? [taskId] : []), ...pairs],
    values: { ...Object.fromEntries(values), payload: payload && given.payload === true, json: true },
  };
}

/** `olderThan` is `older-than`. */
const optionNamed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const textFor = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

interface Input {
  readonly description: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

function tool(verb: TaskVerb, name: string, title: string, input: Input, writes = false): VerbTool {
  const { description, properties = {}, required = [] } = input;
  const inputSchema = { type: 'object', properties, required, additionalProperties: false };
  return { verb, name, title, description, writes, inputSchema };
}

/** An act is always on one task, and always has a reason. */
function act(verb: TaskVerb, name: string, title: string, { description, properties, required = [] }: Input): VerbTool {
  const all = { taskId: TASK_ID, ...properties, reason: REASON, owner: OWNER };
  return tool(verb, name, title, { description, properties: all, required: ['taskId', ...required, 'reason'] }, true);
}
