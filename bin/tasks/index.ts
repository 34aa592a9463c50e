import type { OperatorContext } from '../../functions/operator/context.ts';
import { explain } from '../../functions/operator/explain/index.ts';
import { findTask } from '../../functions/operator/find.ts';
import { show } from '../../functions/operator/show.ts';
import { isTerminal } from '../../functions/tasks/transitions/change.ts';
import { act } from './act.ts';
import { connect } from './connect.ts';
import { serveMcp } from './mcp/serve.ts';
import {
  type Arguments,
  filterOf,
  readArguments,
  type TaskArguments,
  targetOf,
  textOf,
  type Values,
} from './options.ts';
import { explanationText } from './print-explanation.ts';
import { listText } from './print-list.ts';
import { logsText } from './print-logs.ts';
import { storyText } from './print-story.ts';
import { firstFull, logsReader, shownPage } from './reads.ts';
import { onSubscriptions } from './subscriptions/verbs.ts';
import { auditTo, type Terminal } from './terminal.ts';
import { oneLine, printable, printableJson } from './text.ts';
import { messageOf, UsageError } from './usage-error.ts';

export const USAGE = `usage: mcp-task-server tasks VERB [options]
  list                      open tasks, the newest first
                              --status open|ended|all|working,…  --tool NAME  --owner OWNER
                              --older-than 10m  --newer-than 1h  --ends-within 5m  --cursor C  --watch
  show ID                   what happened to a task [--payload] [--watch]
  explain ID                why it is not done, when it ends, and what to do [--payload: holds its result against its schema]
  logs ID | --part PART     log lines of a task [--payload: lines of its tool, too], or of a part of the server [--since 15m]
  cancel ID… | FILTERS      ends tasks as cancelled, and stops their runs --reason TEXT
  fail ID… | FILTERS        ends tasks as failed --reason TEXT
  answer ID key=value…      answers the open questions of a task --reason TEXT
  rerun ID… | FILTERS       new tasks from the same arguments --reason TEXT [--force]
  subscriptions ID | --owner OWNER   subscriptions of an owner, or of the owner of a task [--payload: by which URLs]
  unsubscribe SUBSCRIPTION  ends a subscription --owner OWNER --reason TEXT
  mcp                       these verbs as an MCP server on stdin and stdout, read-only [--allow-writes] [--payload]
With FILTERS (as of list) the verbs only say what they would do, until --yes: --dry-run, --max N, --rate N (a second).
The server: the 'mcp-task-server dev' of this folder, or --stack NAME [--region R] [--profile P] [--server ID].
--json prints JSON.
`;

/** Pause between two reads of a watch, in milliseconds. */
const WATCH = 2_000;

/** Runs `mcp-task-server tasks`. Returns the exit code: 0 done, 1 not done, 2 a wrong option. */
export async function runTasks(args: readonly string[], outside: Terminal): Promise<number> {
  const json = args.includes('--json');
  const terminal = {
    ...outside,
    out: (text: string) => outside.out(json ? printableJson(text) : printable(text)),
    err: (text: string) => outside.err(printable(text)),
  };
  if (args.length === 0 || args[0] === 'help' || args.includes('--help')) {
    terminal.out(USAGE);
    return 0;
  }
  try {
    const given = readArguments(args);
    const { verb } = given;
    if (verb === 'mcp') return await serveMcp(given, terminal);
    const context = await connect(targetOf(given.values), { ...terminal, audit: auditTo(terminal) });
    return await run({ ...given, verb }, context, terminal);
  } catch (error) {
    terminal.err(`${oneLine(messageOf(error))}\n`);
    if (error instanceof UsageError) terminal.err('mcp-task-server tasks help says more\n');
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(given: TaskArguments, context: OperatorContext, terminal: Terminal): Promise<number> {
  const { verb, values } = given;
  switch (verb) {
    case 'list':
      return listTasks(values, context, terminal);
    case 'show':
      return showTask(given, context, terminal);
    case 'explain':
      return explainTask(given, context, terminal);
    case 'logs':
      return showLogs(given, context, terminal);
    case 'subscriptions':
    case 'unsubscribe':
      return onSubscriptions({ ...given, verb }, context, terminal);
    default:
      return act({ ...given, verb }, context, terminal);
  }
}

async function listTasks(values: Values, context: OperatorContext, terminal: Terminal): Promise<number> {
  const readNow = async () => {
    const now = context.now();
    const page = await firstFull(filterOf(values, now), textOf(values.cursor), context);
    return { text: listText(page, now), json: shownPage(page), over: false };
  };
  return watched(readNow, values, context, terminal);
}

async function showTask({ words, values }: Arguments, context: OperatorContext, terminal: Terminal): Promise<number> {
  const key = await findTask(oneId('show', words), textOf(values.owner), context.reads);
  const readNow = async () => {
    const story = await show(key, values.payload === true, context);
    const over = 'unreadable' in story || isTerminal(story.status);
    return { text: storyText(story, context.now()), json: story, over };
  };
  return watched(readNow, values, context, terminal);
}

async function explainTask({ words, values }: Arguments, context: OperatorContext, { out }: Terminal): Promise<number> {
  const key = await findTask(oneId('explain', words), textOf(values.owner), context.reads);
  const explanation = await explain(key, values.payload === true, context);
  out(`${values.json === true ? JSON.stringify(explanation) : explanationText(explanation, context.now())}\n`);
  return 0;
}

async function showLogs({ words, values }: Arguments, context: OperatorContext, terminal: Terminal): Promise<number> {
  const [owner, part, since] = [textOf(values.owner), textOf(values.part), textOf(values.since)];
  const taskId = words.length === 0 ? undefined : oneId('logs', words);
  const read = await logsReader({ taskId, owner, part, since, payload: values.payload === true }, context);
  const readNow = async () => {
    const found = await read();
    return { text: logsText(found), json: found, over: false };
  };
  return watched(readNow, values, context, terminal);
}

function oneId(verb: string, [id = '', ...more]: readonly string[]): string {
  if (id === '' || more.length > 0) throw new UsageError(`${verb} takes the id of one task`);
  return id;
}

/** Prints the result of a read; with `--watch`, reads and prints again until it is over. */
async function watched(
  readNow: () => Promise<{ readonly text: string; readonly json: object; readonly over: boolean }>,
  { watch, json: asJson }: Values,
  { sleep }: OperatorContext,
  { out, signal }: Terminal,
): Promise<number> {
  let last = '';
  for (;;) {
    const { text, json, over } = await readNow();
    const shown = asJson === true ? JSON.stringify(json) : text;
    if (shown !== last) out(`${shown}\n`);
    last = shown;
    if (watch !== true || over || signal?.aborted) return 0;
    await sleep(WATCH);
    if (signal?.aborted) return 0;
  }
}
