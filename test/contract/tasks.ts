import { randomUUID } from 'node:crypto';
import { newTaskKey } from '../../functions/tasks/ids.ts';
import type { Status, TaskRecord } from '../../functions/tasks/record.ts';
import { create } from '../../functions/tasks/transitions/begin.ts';
import { after, isTerminal } from '../../functions/tasks/transitions/change.ts';

export const now = Date.now();
export const newOwner = (): string => `contract-${randomUUID()}`;

/** A new task with an owner that no other test has. */
export function newTask(more: Partial<TaskRecord> = {}, owner = newOwner(), at = now): TaskRecord {
  const key = newTaskKey({ kind: 'verified', key: owner }, at);
  const task = { tool: 'echo', ttl: 3_600_000, timeout: 900_000, accepts: ['elicitation/create'], legacy: true };
  return { ...create(key, { ...task, progressToken: 7 }, at), ...more };
}

export const question = { method: 'elicitation/create', params: { message: '?' } };
const asked = JSON.stringify({ inputRequests: { a: question, b: question } });

/** All that a task may have gathered while it is unfinished. */
const GATHERED: Partial<TaskRecord> = {
  ...{ progressToken: 'token', digest: 'd' },
  ...{ asked, arguments: '{"n":9007199254740993}', inputResponses: { 'r1.z': '{"action":"accept"}' } },
  ...{ refused: { 'r2.a': 1 }, round: 2 },
};

/** A task in this status with everything it can have there; one that has ended came from `working`. */
export function taskIn(status: Status): TaskRecord {
  const open = newTask(GATHERED);
  if (!isTerminal(status)) return { ...open, status };
  const gone = ['due', 'dueAt', 'asked', 'arguments', 'inputResponses', 'refused'] as const;
  return after(open, { from: ['working'], set: { status, updatedAt: now }, remove: gone });
}

/** The values serve as key of an answer, and as its text. */
export const AWKWARD = [
  'a.b.c',
  'a[0]',
  '#key0',
  ':answer0',
  'naïve ключ 鍵 🔑',
  '__proto__',
  'constructor',
  'toString',
  'with "quotes", \\ and \n',
  ' ',
  '',
  '$',
  'x'.repeat(1_000),
];
