import type { Operator, Outcome } from '../../functions/operator/acts/act.ts';
import { answerTask } from '../../functions/operator/acts/answer.ts';
import { inBulk, selected } from '../../functions/operator/acts/bulk.ts';
import { cancelTask, failTask } from '../../functions/operator/acts/end.ts';
import { rerunTask } from '../../functions/operator/acts/rerun.ts';
import type { OperatorContext } from '../../functions/operator/context.ts';
import { findTask, isWholeId } from '../../functions/operator/find.ts';
import { readTask } from '../../functions/operator/show.ts';
import type { Status, TaskKey } from '../../functions/tasks/record.ts';
import { type Arguments, filterOf, filtersIn, textOf, type Values } from './options.ts';
import type { Terminal } from './terminal.ts';
import { oneLine, span } from './text.ts';
import { UsageError } from './usage-error.ts';
import { count } from './values.ts';

/** The defaults of `--max`, the tasks that a filter may choose, and of `--rate`, the acts in a second. */
const MAX = 100;
const RATE = 10;

type ActVerb = 'cancel' | 'fail' | 'rerun' | 'answer';

/** Runs a verb that changes tasks. Returns the exit code: 1 if it failed for one of the tasks. */
export async function act(
  { verb, words, values }: Arguments & { readonly verb: ActVerb },
  context: OperatorContext,
  { out }: Terminal,
): Promise<number> {
  const reason = textOf(values.reason) ?? (textOf(values.stack) === undefined ? 'by hand, in dev' : undefined);
  if (reason === undefined) throw new UsageError(`${verb} is audited: give --reason TEXT`);
  const print = (report: object, text: string) => out(`${values.json === true ? JSON.stringify(report) : text}\n`);
  // With --json only the audit line after the act says this.
  const say = (text: string) => (values.json === true ? undefined : out(`${oneLine(text)}\n`));
  if (verb === 'answer') {
    const [id = '', ...answers] = words;
    if (id === '' || answers.length === 0) throw new UsageError('answer takes the id of one task, and key=value');
    const pairs = answers.map(keyAndText);
    const key = await named(id, values, context, say);
    const outcome = await answerTask(key, pairs, { who: await context.who(), reason }, context);
    print(outcome, oneLine(outcome.message));
    return outcome.done ? 0 : 1;
  }
  const keys = await chosen(verb, words, values, context, say);
  if ('only' in keys) {
    print({ dryRun: keys.only.map(({ taskId }) => taskId), more: keys.more }, dryRunText(verb, keys));
    return 0;
  }
  const operator = { who: await context.who(), reason };
  const rate = textOf(values.rate);
  const report = await inBulk(
    keys.all,
    (key) => actOn(verb, key, values, operator, context, keys.among),
    rate === undefined ? RATE : count('--rate', rate),
    context,
  );
  const lines = [...report.succeeded, ...report.failed].map(({ taskId, message }) => oneLine(`${taskId}  ${message}`));
  const sum = `${report.succeeded.length} done, ${report.failed.length} not`;
  print(report, [...lines, ...(keys.all.length > 1 ? [sum] : [])].join('\n'));
  return report.failed.length === 0 ? 0 : 1;
}

function actOn(
  verb: Exclude<ActVerb, 'answer'>,
  key: TaskKey,
  { force }: Values,
  operator: Operator,
  context: OperatorContext,
  among: readonly Status[] | undefined,
): Promise<Outcome> {
  if (verb === 'rerun') return rerunTask(key, force === true, operator, context);
  return (verb === 'cancel' ? cancelTask : failTask)(key, operator, context, among);
}

/** Finds the key of a task to act on. Prints the whole id if only its end was given. */
async function named(id: string, values: Values, context: OperatorContext, say: (text: string) => void) {
  const key = await findTask(id, textOf(values.owner), context.reads);
  if (isWholeId(id)) return key;
  const { taskId, owner, tool, createdAt } = await readTask(key, false, context);
  say(`Task ${taskId}: ${tool}, created ${span(context.now() - Number(createdAt))} ago, owner ${owner}`);
  return key;
}

/** Finds the tasks of the ids, or of the filters. With filters nothing changes without `--yes`. */
async function chosen(
  verb: ActVerb,
  ids: readonly string[],
  values: Values,
  context: OperatorContext,
  say: (text: string) => void,
): Promise<Chosen | DryRun> {
  const filters = filtersIn(values).filter((name) => ids.length === 0 || name !== 'owner');
  if (ids.length > 0 && filters.length > 0)
    throw new UsageError(`Give either ids or filters (--${filters.join(', --')})`);
  if (ids.length > 0) {
    const all: TaskKey[] = [];
    for (const id of ids) all.push(await named(id, values, context, say));
    return values['dry-run'] === true ? { only: all, more: false } : { all };
  }
  if (filters.length === 0)
    throw new UsageError(`${verb} takes ids of tasks, or filters such as --tool NAME --older-than 1h`);
  const max = textOf(values.max);
  const filter = filterOf(values, context.now());
  const wanted: typeof filter =
    verb === 'rerun' && filter.statuses === undefined ? { ...filter, statuses: ['failed'] } : filter;
  const { keys, more } = await selected(wanted, max === undefined ? MAX : count('--max', max), context);
  if (values.yes !== true || values['dry-run'] === true) return { only: keys, more };
  return { all: keys, ...(wanted.statuses && { among: wanted.statuses }) };
}

interface Chosen {
  readonly all: readonly TaskKey[];
  /** The statuses of the filter. */
  readonly among?: readonly Status[];
}

interface DryRun {
  readonly only: readonly TaskKey[];
  readonly more: boolean;
}

function dryRunText(verb: ActVerb, { only, more }: DryRun): string {
  const ids = only.map(({ taskId }) => taskId);
  const head = `Would ${verb} ${ids.length} task${ids.length === 1 ? '' : 's'}${more ? ', and there are more (--max)' : ''}. Nothing is done without --yes.`;
  return [head, ...ids].join('\n');
}

function keyAndText(text: string): readonly [key: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`An answer is key=value, not '${text}'`);
  return [text.slice(0, at), text.slice(at + 1)];
}
