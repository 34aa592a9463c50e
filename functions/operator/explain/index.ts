import type { TaskKey } from '../../tasks/record.ts';
import { failVisibleAt, isTerminal } from '../../tasks/transitions/change.ts';
import { rerunRefusal } from '../acts/rerun.ts';
import type { OperatorContext } from '../context.ts';
import { type Deliveries, deliveriesOf } from '../events/deliveries.ts';
import { readTask } from '../show.ts';
import { recordOf, utc } from '../view.ts';
import { factsOf, healthOf, type ServerHealth } from './facts.ts';
import { RERUN } from './row.ts';
import { GONE, ROWS } from './rows.ts';

/** Why a task is not done, or why it ended so. */
export interface Explanation {
  readonly taskId: string;
  readonly status: string;
  /** Names the cause. */
  readonly cause: string;
  /** Plain sentences. */
  readonly because: readonly string[];
  /** The row of docs/crash-table.md, or the place that says more. Empty for a task that did what it should. */
  readonly row: string;
  /** When every reader sees it as ended, at the latest, in ms since the epoch. Undefined: it has ended. */
  readonly endsBy?: number;
  readonly next: readonly string[];
  /** Why a rerun is refused without `force`. Undefined: the task is open, or nothing speaks against a rerun. */
  readonly rerunRefusal?: string;
  /** What else is wrong with the server. */
  readonly also: readonly string[];
}

/**
 * Explains one task.
 *
 * @param payload whether its result may be read, to hold it against the schema of its tool
 */
export async function explain(key: TaskKey, payload: boolean, context: OperatorContext): Promise<Explanation> {
  const stored = await readTask(key, payload, context);
  const record = recordOf(stored);
  const { taskId } = key;
  if (record === undefined) {
    return {
      taskId,
      status: String(stored.status),
      cause: 'record of another release',
      because: [
        `Its record has version ${stored.version}, or a form, that this release does not understand. Nothing of this release changes it.`,
        'Clients get an error with the reason RecordUnknown. The sweep comes back every 5 minutes.',
      ],
      row: 'docs/deploying.md, "Deploying while tasks run"',
      next: ['Deploy the release that wrote it, or wait: DynamoDB deletes it a day after its ttl'],
      also: alsoOf(await healthOf(undefined, context)),
    };
  }
  const [facts, health, deliveries] = await Promise.all([
    factsOf(record, payload, context),
    healthOf(record, context),
    deliveriesOf(record, context),
  ]);
  const row = ROWS.find(({ fits }) => fits(facts)) ?? GONE;
  const open = facts.seen !== undefined && !isTerminal(facts.seen.status);
  const refusal = open ? undefined : rerunRefusal(record, facts.tool, facts.run);
  const next = row.next(facts).filter((command) => refusal === undefined || command !== RERUN);
  return {
    taskId,
    status: facts.seen?.status ?? 'gone',
    cause: row.name,
    because: row.why(facts),
    row: typeof row.row === 'string' ? row.row : row.row(facts),
    ...(open && { endsBy: failVisibleAt(record) }),
    next: next.map((command) => command.replace(/\bID\b/, taskId)),
    ...(refusal !== undefined && { rerunRefusal: refusal }),
    also: [...undelivered(deliveries), ...alsoOf(health)],
  };
}

const undelivered = ({ deliveries, unread = [] }: Deliveries): string[] => [
  ...deliveries.flatMap(({ state, event, subscription, failedSince = 0, lastError = '' }) =>
    state === 'fails'
      ? [
          `Its event ${event} does not reach ${subscription}: since ${utc(failedSince)} each attempt fails (${lastError}). The next one comes within 15 minutes.`,
        ]
      : [],
  ),
  ...unread.map(
    (subscription) =>
      `${subscription} fails, maybe at an older event of this task: only the newest 500 entries of the log of its owner are read.`,
  ),
];

function alsoOf({ letters, sweepLate }: ServerHealth): string[] {
  const queues = Object.entries(letters).map(
    ([name, count]) =>
      `The queue of dead letters of the ${name} function holds ${count} message${count === 1 ? '' : 's'}: docs/recovery.md, "A dead letter". No task depends on them.`,
  );
  if (sweepLate === 0) return queues;
  const minutes = Math.round(sweepLate / 60_000);
  return [
    `The sweep should have checked this task ${minutes} minutes ago (row 21): the reconciler does not run, or fails. Readers compute deadlines without it. See its log: mcp-task-server tasks logs --part reconciler`,
    ...queues,
  ];
}
