import { parseArgs } from 'node:util';
import type { ListFilter } from '../../functions/operator/list.ts';
import type { Target } from './connect.ts';
import { UsageError } from './usage-error.ts';
import { duration, statuses } from './values.ts';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;

const TARGET = { stack: TEXT, region: TEXT, profile: TEXT, server: TEXT, help: FLAG } as const;
const COMMON = { ...TARGET, json: FLAG } as const;
const FILTERS = {
  owner: TEXT,
  tool: TEXT,
  status: TEXT,
  'older-than': TEXT,
  'newer-than': TEXT,
  'ends-within': TEXT,
} as const;
const BULK = { 'dry-run': FLAG, yes: FLAG, max: TEXT, rate: TEXT, reason: TEXT } as const;

const OPTIONS = {
  list: { ...COMMON, ...FILTERS, cursor: TEXT, watch: FLAG },
  show: { ...COMMON, owner: TEXT, payload: FLAG, watch: FLAG },
  explain: { ...COMMON, owner: TEXT, payload: FLAG },
  logs: { ...COMMON, owner: TEXT, payload: FLAG, part: TEXT, since: TEXT, watch: FLAG },
  answer: { ...COMMON, owner: TEXT, reason: TEXT },
  subscriptions: { ...COMMON, owner: TEXT, payload: FLAG },
  unsubscribe: { ...COMMON, owner: TEXT, reason: TEXT },
  cancel: { ...COMMON, ...FILTERS, ...BULK },
  fail: { ...COMMON, ...FILTERS, ...BULK },
  rerun: { ...COMMON, ...FILTERS, ...BULK, force: FLAG },
  mcp: { ...TARGET, payload: FLAG, 'allow-writes': FLAG },
} as const;

export type Verb = keyof typeof OPTIONS;
/** A verb that does one thing, and then ends. */
export type TaskVerb = Exclude<Verb, 'mcp'>;
export const VERBS = Object.keys(OPTIONS) as readonly Verb[];

/** The values of all options. `readArguments` checks that the verb has them. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

export interface Arguments {
  readonly verb: Verb;
  /** Ids of tasks, and answers. */
  readonly words: readonly string[];
  readonly values: Values;
}

export interface TaskArguments extends Arguments {
  readonly verb: TaskVerb;
}

/** Reads the arguments. Throws a UsageError that names the wrong option and the options of the verb. */
export function readArguments(args: readonly string[]): Arguments {
  const [verb = '', ...rest] = args;
  if (!isVerb(verb)) {
    throw new UsageError(verb === '' ? 'Which verb?' : `There is no verb '${verb}': ${VERBS.join(', ')}`);
  }
  try {
    const { values, positionals } = parseArgs({ args: rest, options: OPTIONS[verb], allowPositionals: true });
    const empty = Object.entries(values).find(([, value]) => value === '');
    // An unset variable of the shell would make the verb act on more tasks.
    if (empty !== undefined) throw new UsageError(`--${empty[0]} has no value`);
    return { verb, words: positionals, values: values as Values };
  } catch (error) {
    const named = Object.keys(OPTIONS[verb]).map((name) => `--${name}`);
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. The options of ${verb}: ${named.join(' ')}`);
  }
}

const isVerb = (name: string): name is Verb => Object.hasOwn(OPTIONS, name);

export const textOf = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const targetOf = ({ stack, region, profile, server }: Values): Target => ({
  stack: textOf(stack),
  region: textOf(region),
  profile: textOf(profile),
  server: textOf(server),
});

/** Names of the options that choose tasks. */
export const filtersIn = (values: Values): string[] => Object.keys(FILTERS).filter((name) => textOf(values[name]));

/** Reads the filters. Throws UsageError. @param now in milliseconds since the epoch */
export function filterOf(values: Values, now: number): ListFilter {
  const [owner, tool, status] = [textOf(values.owner), textOf(values.tool), textOf(values.status)];
  const time = (option: string) => {
    const text = textOf(values[option]);
    return text === undefined ? undefined : duration(`--${option}`, text);
  };
  const [older, newer, ends] = [time('older-than'), time('newer-than'), time('ends-within')];
  return {
    ...(owner !== undefined && { owner }),
    ...(tool !== undefined && { tool }),
    ...(status !== undefined && { statuses: statuses(status) }),
    ...(older !== undefined && { createdUntil: now - older }),
    ...(newer !== undefined && { createdFrom: now - newer }),
    ...(ends !== undefined && { deadlineUntil: now + ends }),
  };
}
