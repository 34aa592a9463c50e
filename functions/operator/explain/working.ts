import type { RunFacts } from '../runs.ts';
import { byState } from '../states.ts';
import { utc } from '../view.ts';
import type { TaskFacts } from './facts.ts';

export const works = ({ seen }: TaskFacts): boolean => seen?.status === 'working';

/** `'Charge' 8 times (Throttled), 'Notify' once (States.Timeout)`. Empty: no try of a state has failed. */
function failedTries({ visits = [] }: Partial<RunFacts>): string {
  const failing = byState(visits).filter(({ errors }) => errors.length > 0);
  const named = failing.map(({ name, errors }) => {
    const count = ['once', 'twice'][errors.length - 1] ?? `${errors.length} times`;
    return `'${name}' ${count} (${[...new Set(errors)].join(', ')})`;
  });
  return named.join(', ');
}

/** What the state machine of a tool does now. Empty for a tool that is a function. */
function machineNow({ run, tool }: TaskFacts): readonly string[] {
  if (tool?.stateMachineArn === undefined || run?.status !== 'RUNNING') return [];
  if (run.visits === undefined)
    return ['What its state machine does is not known: your credentials may not read the history of its executions.'];
  const now = run.visits.filter(({ to }) => to === undefined).map(({ name }) => `'${name}'`);
  if (now.length === 0) return [];
  return [`Its state machine is in the state ${[...new Set(now)].join(', ')}.`];
}

/** Where the state machine of a failed task has failed. Empty for a tool that is a function. */
export function machineFailure({ run }: TaskFacts): readonly string[] {
  const tries = failedTries(run ?? {});
  return tries === '' ? [] : [`Tries failed in states of its state machine: ${tries}.`];
}

const since = ({ startedAt }: Partial<RunFacts> = {}): string =>
  startedAt === undefined ? '' : ` since ${utc(startedAt)}`;
const NEXT = {
  show: 'mcp-task-server tasks show ID',
  logs: 'mcp-task-server tasks logs ID',
  cancel: 'mcp-task-server tasks cancel ID --reason TEXT',
} as const;

/** The rows of `rows.ts` for tasks whose run works as it should. */
export const WORKING_ROWS = [
  {
    // The workflow sees no failure as long as the state machine goes on.
    name: 'works, after failures in its state machine',
    row: '9',
    fits: (facts: TaskFacts): boolean =>
      works(facts) && facts.run?.status === 'RUNNING' && failedTries(facts.run) !== '',
    why: (facts: TaskFacts): readonly string[] => [
      `Its run works${since(facts.run)}.`,
      ...machineFailure(facts),
      'Its state machine has gone on, by its own retriers or catchers.',
      ...machineNow(facts),
    ],
    next: (): readonly string[] => [NEXT.show, NEXT.cancel],
  },
  {
    name: 'works',
    row: '9',
    fits: works,
    why: (facts: TaskFacts): readonly string[] => [
      facts.run?.status === 'RUNNING'
        ? `Its run works${since(facts.run)}, without a failure so far.`
        : 'It works. What its run does is not known: your credentials may not ask for it.',
      ...machineNow(facts),
    ],
    next: (): readonly string[] => [NEXT.show, NEXT.logs, NEXT.cancel],
  },
] as const;
