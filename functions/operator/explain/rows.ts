import { isTerminal } from '../../tasks/transitions/change.ts';
import { isSeen } from '../../tasks/transitions/run.ts';
import { awaited, isOver, waitMessage } from '../../tasks/waits/waits.ts';
import { utc } from '../view.ts';
import { EXPRESS_ROWS } from './express.ts';
import { failuresOf, isDeployedSince, isRunOver, isStartOver, type TaskFacts } from './facts.ts';
import { FAILED_ROWS } from './failed.ts';
import { CRASHED, LOGS, lastOf, operatorOf, type Row, rerun, THROTTLED, times } from './row.ts';
import { WORKING_ROWS, works } from './working.ts';

/** A lost start: the run of its round is not there, and has had its time. */
const isNotStarted = (facts: TaskFacts) =>
  works(facts) && facts.run?.status === 'missing' && !isSeen(facts.record) && isStartOver(facts);
const OPEN_END = ['mcp-task-server tasks cancel ID --reason TEXT'];

/** For tasks that no row fits. */
export const GONE: Omit<Row, 'fits'> = {
  name: 'gone before its end',
  row: '18',
  why: () => ['Its ttl is over: clients get "Task not found".'],
  next: () => [],
};

export const ROWS: readonly Row[] = [
  {
    name: 'past its ttl',
    row: '18',
    fits: ({ seen, record }) => seen === undefined && isTerminal(record.status),
    why: ({ record }) => [`It is ${record.status}, and its ttl is over: clients get "Task not found".`],
    next: () => [],
  },
  {
    name: 'asks, and gets no answer',
    row: '17',
    fits: ({ seen }) => seen?.status === 'input_required',
    why: ({ record }) => [
      `Its tool has asked its client in round ${record.round}, and waits for an answer since ${utc(record.updatedAt)}.`,
      ...(record.events.some(({ what, round = 1 }) => what === 'refused' && round === record.round)
        ? ['The client has sent answers that are not valid.']
        : []),
      'Nothing runs meanwhile.',
    ],
    next: () => ['mcp-task-server tasks show ID --payload', 'mcp-task-server tasks answer ID key=value --reason TEXT'],
  },
  {
    name: 'waits for a person or another system',
    row: '25',
    fits: ({ record, seen }) => seen?.status === 'waiting' && awaited(record).length > 0,
    why: ({ record, now }) => [
      isOver(record, now)
        ? 'What it waits for is over: its next round is about to begin. The sweep begins it within 75 seconds.'
        : `Its tool waits in round ${record.round}: ${waitMessage(record)}. The signal has not come.`,
      'Nothing runs meanwhile.',
    ],
    next: () => [
      'mcp-task-server tasks show ID --payload',
      'mcp-task-server tasks answer ID name=value --reason TEXT',
      ...OPEN_END,
    ],
  },
  {
    name: 'waits for the clock',
    row: '24',
    fits: ({ seen }) => seen?.status === 'waiting',
    why: ({ record, now }) => [
      isOver(record, now)
        ? 'The time of a wait is over: its next round is about to begin. The sweep begins it within 75 seconds.'
        : `Its tool waits in round ${record.round}: ${waitMessage(record)}.`,
      'Nothing runs meanwhile.',
    ],
    next: () => ['mcp-task-server tasks show ID', ...OPEN_END],
  },
  {
    name: 'its tool is gone',
    row: '23',
    fits: (facts) => works(facts) && facts.tool?.engine === undefined,
    why: ({ record }) => [
      `The deployed server has no tool '${record.tool}' any more. What runs ends on its own; no round can be started again.`,
    ],
    next: () => OPEN_END,
  },
  {
    name: 'throttled',
    row: '8',
    fits: (facts) => works(facts) && facts.run?.status === 'RUNNING' && failuresOf(facts, THROTTLED).length > 0,
    why: (facts) => [
      `Lambda has refused to run its function ${times(failuresOf(facts, THROTTLED).length)}: no concurrency is free (${lastOf(facts, THROTTLED)}).`,
      'The workflow tries again until the deadline, at most 20 s apart, plus 1 % of the time that it has waited.',
    ],
    next: () => ['aws lambda get-account-settings --query AccountLimit', ...OPEN_END],
  },
  {
    name: 'crash loop',
    row: '19',
    fits: (facts) => works(facts) && facts.run?.status === 'RUNNING' && failuresOf(facts, CRASHED).length > 0,
    why: (facts) => [
      `Its function has crashed ${times(failuresOf(facts, CRASHED).length)} in this round (${lastOf(facts, CRASHED)}).`,
      facts.tool?.repeatable === true
        ? 'Its tool may be repeated, so the workflow tries again: twice after a crash, 6 times after an unclear answer.'
        : 'Its tool may not be repeated: the workflow writes the failure.',
    ],
    next: () => [LOGS],
  },
  {
    name: 'lost start',
    row: '4',
    fits: (facts) => isNotStarted(facts) && facts.record.round === 1,
    why: () => [
      'It was stored, and its first run was never started: the endpoint died in between.',
      'The sweep does not start it, as its client has no id and calls again. It fails the task within 2 minutes of its creation.',
    ],
    next: () => OPEN_END,
  },
  {
    name: 'lost start of a later round',
    row: '16',
    fits: isNotStarted,
    why: ({ record }) => [
      `It was answered, and its round ${record.round} has not been started: the endpoint died in between.`,
      'The next poll of its client starts it, or the sweep within 2 minutes.',
    ],
    next: () => OPEN_END,
  },
  {
    name: 'lost end',
    row: '13',
    fits: (facts) => works(facts) && isRunOver(facts),
    why: ({ run }) => [
      run?.status === 'missing'
        ? 'Its run was seen, and is not there any more. It has not written an outcome.'
        : `Its run has ended (${run?.status}${run?.error === undefined ? '' : `, ${run.error}`}) and has not written an outcome.`,
      'The event of the run, or the next check of the sweep, ends the task: within an hour and 5 minutes.',
    ],
    next: () => OPEN_END,
  },
  ...EXPRESS_ROWS,
  {
    name: 'deployed in the middle',
    row: '23',
    fits: (facts) => works(facts) && isDeployedSince(facts),
    why: ({ tool }) => [
      `Its tool was deployed at ${utc(tool?.changedAt ?? 0)}, after this run began. The run keeps the definition of its workflow.`,
      'The code of a function is not pinned: a retry, or the next round, runs the new one.',
    ],
    next: () => ['mcp-task-server tasks show ID', ...OPEN_END],
  },
  {
    name: 'starts',
    row: '4',
    fits: (facts) => works(facts) && facts.run?.status === 'missing',
    why: () => ['Its run is about to start: it was created or answered a moment ago.'],
    next: () => ['mcp-task-server tasks show ID --watch'],
  },
  ...WORKING_ROWS,
  ...FAILED_ROWS,
  {
    name: 'result does not fit its schema',
    row: 'A-19',
    fits: ({ misfit }) => misfit !== undefined,
    why: ({ misfit = [] }) => [
      'Its run succeeded, but what it returned does not fit the outputSchema of its tool, so clients see an error:',
      ...misfit.map((problem) => `  ${problem}`),
    ],
    next: () => [
      'mcp-task-server tasks show ID --payload',
      'Mend the tool or its outputSchema, deploy, then rerun the task',
    ],
  },
  {
    name: 'cancelled',
    row: '14',
    fits: ({ seen }) => seen?.status === 'cancelled',
    why: (facts) => [`It was cancelled${operatorOf(facts) || ' by its client'}.`],
    next: rerun,
  },
  {
    name: 'its result is an error',
    row: '',
    fits: ({ seen }) => seen?.status === 'completed' && seen.isError === true,
    why: ({ record: { events }, run }) => [
      run?.status === 'missing' && events.every(({ startedAt }) => startedAt === undefined)
        ? 'Its arguments were refused before its tool ran.'
        : 'Its tool returned an error, which the client shows to the model.',
    ],
    next: () => ['mcp-task-server tasks show ID --payload', LOGS],
  },
  {
    name: 'completed',
    row: '',
    fits: ({ seen }) => seen?.status === 'completed',
    why: () => ['It is completed.'],
    next: () => ['mcp-task-server tasks show ID --payload'],
  },
];
