import type { Explanation } from '../../../../functions/operator/explain/index.ts';
import type { ListPage } from '../../../../functions/operator/list.ts';
import type { FoundLogs } from '../../../../functions/operator/logs.ts';
import type { Story, Unreadable } from '../../../../functions/operator/show.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { StoredTask } from '../../../../functions/tasks/table/operator-reads.ts';
import { KEY, MINUTE, T0, task } from '../../../functions/operator/operators.ts';

/** What the command prints, by what is special about it. All is printed five minutes after T0. */

export const NOW = T0 + 5 * MINUTE;
const SECOND = 1_000;
const DAY = 24 * 60 * MINUTE;
const ARN = 'arn:aws:states:eu-west-1:1:execution:own:t-r';

const OPEN: Story = {
  ...{ taskId: 'task-1', owner: 'owner#o', tool: 'charge', status: 'working', round: 1 },
  ...{ createdAt: T0, updatedAt: T0, deadlineAt: T0 + 10 * MINUTE, endsBy: T0 + 10 * MINUTE + 30 * SECOND },
  readableUntil: T0 + 60 * MINUTE,
  happened: [{ at: T0, what: 'created' }],
  runs: [],
  links: {},
};
const { endsBy: _end, ...ENDED } = OPEN;

export const STORIES: Readonly<Record<string, Story | Unreadable>> = {
  'a task that works': OPEN,
  'a task that was stored by another release': {
    ...{ taskId: 'task-1', unreadable: true },
    stored: { ...KEY, tool: 'charge', version: 99 },
  },
  'a task that failed with an error of a known name': {
    ...ENDED,
    status: 'failed',
    error: { message: 'The tool failed', reason: 'TypeError' },
    happened: [
      { at: T0, what: 'created' },
      { at: T0 + 250, what: 'run started', round: 1 },
      { at: T0 + SECOND, what: 'attempt failed', round: 1, error: 'TypeError' },
      { at: T0 + 2 * SECOND, what: 'failed', by: 'workflow' },
    ],
    links: { execution: 'https://console/1', logs: 'mcp-task-server tasks logs task-1', runLogs: '/runs' },
  },
  'a task that an operator has ended': {
    ...ENDED,
    status: 'failed',
    error: { message: 'Ended by an operator' },
    happened: [{ at: T0, what: 'failed', round: 2, by: 'operator', who: 'ann', reason: 'INC-7', error: 'E' }],
  },
  'a task that readers see as failed, at the moment of its end': {
    ...OPEN,
    ...{ seenAs: 'failed', deadlineAt: NOW - 30 * SECOND, endsBy: NOW },
  },
  'a task whose tool returned an error': { ...ENDED, status: 'completed', isError: true },
  'a task whose tool returned a result, and that repeats another': {
    ...ENDED,
    ...{ status: 'completed', isError: false, rerunOf: 'task-0', createdAt: NOW - 2 * DAY - 61 * SECOND },
  },
  'a task that has reported how much is done': { ...OPEN, progress: { at: NOW - 3 * SECOND, done: 1 } },
  'a task that has reported how much of how much is done': {
    ...OPEN,
    progress: { at: NOW, done: 1, of: 2, message: 'half done' },
  },
  'a task that has reported a message': { ...OPEN, progress: { at: NOW - 3 * SECOND, message: 'soon' } },
  'a task that waits': {
    ...OPEN,
    status: 'waiting',
    waits: [
      { name: 'approval', kind: 'webhook', until: NOW + 90 * SECOND },
      { name: 'payment', kind: 'link', until: NOW + MINUTE, signalled: true },
      { name: 'pause', kind: 'time', until: NOW },
      { name: 'rest', kind: 'more' },
    ],
  },
  'a tool that is a state machine': {
    ...OPEN,
    round: 2,
    runs: [
      { round: 1, executionArn: `${ARN}1`, status: 'SUCCEEDED', failures: [] },
      {
        ...{ round: 2, executionArn: `${ARN}2`, status: 'RUNNING', failures: [] },
        visits: [
          {
            ...{ name: 'Charge', from: T0, to: T0 + 2 * SECOND },
            tries: [
              { from: T0, to: T0 + 1, error: 'Busy' },
              { from: T0, to: T0 + 2, error: 'Busy' },
              { from: T0, to: T0 + 3, error: 'Down' },
              { from: T0, to: T0 + 4 },
            ],
          },
          { name: 'Wait', from: T0 + 2 * SECOND, to: T0 + 5 * SECOND, tries: [] },
          { name: 'Charge', from: NOW - 7 * SECOND, tries: [{ from: NOW - 7 * SECOND }] },
          { name: 'Notify', from: NOW - SECOND, tries: [] },
        ],
      },
    ],
  },
  'a task with events': {
    ...ENDED,
    status: 'completed',
    deliveries: [
      { event: 'task.finished', eventId: 'e', subscription: 'sub_1', state: 'done' },
      { event: 'task.finished', eventId: 'e', subscription: 'sub_2', state: 'waits' },
      {
        ...{ event: 'task.finished', eventId: 'e', subscription: 'sub_3', state: 'fails' },
        ...{ failedSince: NOW - 2 * MINUTE, lastError: 'status 500' },
      },
    ],
  },
  'a task whose events may be among older ones': { ...ENDED, status: 'completed', unreadEvents: true },
  'a task with its payload': {
    ...ENDED,
    status: 'completed',
    payload: { arguments: { amount: 1 }, answers: { ok: true }, result: ['paid'] },
  },
};

const EXPLAINED: Explanation = {
  ...{ taskId: 'task-1', status: 'working', cause: 'works', because: ['Its tool works.', 'It reports nothing.'] },
  ...{ row: '9', endsBy: NOW + 90 * SECOND, next: ['mcp-task-server tasks show task-1'], also: [] },
};
const { endsBy: _until, ...OVER } = EXPLAINED;

export const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  'a task that works': EXPLAINED,
  'a task at the moment of its end, with more to do': { ...EXPLAINED, endsBy: NOW, next: ['first', 'then'] },
  'a task of another release': { ...OVER, row: 'docs/deploying.md, "Deploying while tasks run"' },
  'a task whose cause has a section of the crash table': { ...OVER, row: 'Data in S3' },
  'a task whose result does not fit': { ...OVER, status: 'completed', row: 'A-19' },
  'a task that did what it should: no rerun is wanted': {
    ...{ ...OVER, status: 'completed', row: '', next: [], rerunRefusal: 'it may have had effects' },
  },
  'a task that must not be repeated, on a server with dead letters': {
    ...{ ...OVER, status: 'failed', row: '13', rerunRefusal: 'it may have had effects' },
    also: ['A queue holds 1 message.', 'Another one holds 2 messages.'],
  },
};

const stored = (more: Partial<TaskRecord>): StoredTask => ({ ...task(more) });

export const LISTS: Readonly<Record<string, ListPage>> = {
  'no task': { tasks: [] },
  'no task on this page': { tasks: [], cursor: 'c' },
  'tasks, and more on the next page': {
    tasks: [
      stored({ deadlineAt: NOW - 30 * SECOND }),
      stored({ status: 'waiting', waits: JSON.stringify({ approval: { kind: 'link', until: T0 + 8 * MINUTE } }) }),
      stored({ status: 'waiting', waits: '{"more":{"kind":"more"}}' }),
      { ...KEY, tool: 'other', status: 'done' },
      { ...KEY, tool: 'other', status: 'done', createdAt: NOW - MINUTE },
    ],
    cursor: 'c',
  },
  'one task': { tasks: [stored({ status: 'completed' })] },
};

export const LOGS: Readonly<Record<string, FoundLogs>> = {
  'no line': { lines: [], hidden: [] },
  'lines of two sources': {
    lines: [
      { at: T0, source: 'endpoint', line: '{"event":"created"}' },
      { at: T0 + SECOND, source: 'reconciler', line: 'swept' },
    ],
    hidden: [],
  },
  'a line, and two sources that are left out': {
    lines: [{ at: T0, source: 'charge', line: 'charged' }],
    hidden: ['lines of the tool: --payload', 'lines of runs'],
  },
};
