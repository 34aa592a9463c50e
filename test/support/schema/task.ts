import { storedErrorProblems } from './errors.ts';
import { type Era, fits, LEGACY, MODERN } from './published.ts';
import { lacks, list, type Members, members, metaOf, only, RELATED_TASK, type Sent, unless } from './rules.ts';

const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const positive = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && value > 0;

/** A Task of 2025-11-25 (C-11, F-07). */
export function legacyTask(where: string, task: Members): string[] {
  return [
    ...fits(LEGACY, 'Task', task),
    ...times(where, task),
    ...lacks(where, task, 'ttlMs', 'pollIntervalMs', 'task', 'result', 'error', 'inputRequests', 'requestState'),
  ];
}

/** The members that every task of the extension has (E-08). */
export function modernTask(where: string, task: Members): string[] {
  const { ttlMs, pollIntervalMs } = task;
  return [
    ...times(where, task),
    ...unless(ttlMs === null || positive(ttlMs), `${where}/ttlMs must be null or a positive integer`),
    ...unless(pollIntervalMs === undefined || positive(pollIntervalMs), `${where}/pollIntervalMs must be positive`),
    ...lacks(where, task, 'ttl', 'pollInterval', 'task', 'requestState', 'cacheScope'),
  ];
}

/** A DetailedTask: what each status adds, and no other (E-11 to E-13). */
export function detailedTask(where: string, task: Members): string[] {
  const { status, inputRequests, result, error } = task;
  const own = { input_required: 'inputRequests', completed: 'result', failed: 'error' }[String(status)];
  return [
    ...modernTask(where, task),
    ...lacks(where, task, ...['inputRequests', 'result', 'error'].filter((key) => key !== own)),
    ...(own === 'inputRequests' ? inputRequestProblems(`${where}/inputRequests`, inputRequests) : []),
    ...(own === 'result' ? completeCall(`${where}/result`, members(result)) : []),
    ...(own === 'error' ? storedErrorProblems(error).map((problem) => `${where}/error: ${problem}`) : []),
  ];
}

/** A CallToolResult of 2026-07-28 with nothing of another result in it (D-11, E-12, X-19). */
export function completeCall(where: string, result: Members): string[] {
  return [
    ...fits(MODERN, 'CallToolResult', result).map((problem) => `${where}: ${problem}`),
    ...unless(result.resultType === 'complete', `${where}/resultType must be 'complete'`),
    ...lacks(where, result, 'inputRequests', 'requestState'),
    ...lacks(`${where}/_meta`, metaOf(result), RELATED_TASK),
  ];
}

/** Each is `{ method, params }` of one of the three kinds, with no field of 2025-11-25 (D-21, D-34). */
export function inputRequestProblems(where: string, requests: unknown): string[] {
  return [
    ...fits(MODERN, 'InputRequests', requests),
    ...Object.entries(members(requests)).flatMap(([key, request]) => [
      ...only(`${where}/${key}`, request, 'method', 'params'),
      ...lacks(`${where}/${key}/params`, members(request).params, 'elicitationId', 'task'),
      ...lacks(`${where}/${key}/params/_meta`, metaOf(members(request).params), RELATED_TASK),
    ]),
  ];
}

/** The task an answer speaks of is the one that was asked for. */
export function sameTask(where: string, taskId: unknown, sent: Sent): string[] {
  const asked = members(sent.params).taskId;
  return unless(asked === undefined || taskId === asked, `${where} is of task ${String(taskId)}, not ${String(asked)}`);
}

export function tools(era: Era, result: Members): string[] {
  const names = list(result.tools).map((tool) => members(tool).name);
  return [
    ...fits(era, 'ListToolsResult', result),
    ...unless(new Set(names).size === names.length, 'two tools have the same name (A-18)'),
  ];
}

function times(where: string, task: Members): string[] {
  return ['createdAt', 'lastUpdatedAt'].flatMap((key) => {
    const time = String(task[key]);
    return unless(ISO_8601.test(time) && !Number.isNaN(Date.parse(time)), `${where}/${key} must be an ISO 8601 time`);
  });
}
