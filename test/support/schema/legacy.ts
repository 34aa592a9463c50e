import { fits as fitsIn, LEGACY } from './published.ts';
import {
  isObject,
  lacks,
  list,
  type Members,
  members,
  metaOf,
  only,
  RELATED_TASK,
  SERVER_INFO,
  type Sent,
  unless,
} from './rules.ts';
import { legacyTask, sameTask, tools } from './task.ts';

type Rule = (result: Members, sent: Sent) => string[];
const fits = (name: string, value: unknown) => fitsIn(LEGACY, name, value);
const VERSIONS: readonly unknown[] = ['2025-11-25', '2025-06-18'];

/** What a 2025-11-25 answer must not show: results of 2026-07-28 have these (B-14, F-08, F-13). */
export function legacyResult(method: string, result: Members, sent: Sent): string[] {
  const tasks = sent.version === undefined || sent.version === LEGACY;
  const exists = !NOT_HERE.includes(method) && (tasks || !method.startsWith('tasks/'));
  return [
    ...unless(exists, `${method} has no result in ${sent.version ?? LEGACY}`),
    ...lacks('result', result, 'resultType', 'ttlMs', 'cacheScope'),
    ...lacks('result/_meta', metaOf(result), SERVER_INFO),
    ...(rules[method]?.(result, sent) ?? []),
  ];
}

const NOT_HERE = ['server/discover', 'subscriptions/listen', 'tasks/update'];

const rules: Readonly<Record<string, Rule>> = {
  initialize: (result, { params }) => {
    const { protocolVersion, capabilities } = result;
    const asked = members(params).protocolVersion;
    const agreed =
      asked === undefined || (VERSIONS.includes(asked) ? protocolVersion === asked : protocolVersion === LEGACY);
    const offered = members(members(members(members(capabilities).tasks).requests).tools).call;
    return [
      ...fits('InitializeResult', result),
      ...unless(
        VERSIONS.includes(protocolVersion) && agreed,
        `${String(protocolVersion)} is not what to agree on (B-01)`,
      ),
      ...lacks('capabilities', capabilities, 'extensions', ...(protocolVersion === LEGACY ? [] : ['tasks'])),
      ...unless(
        protocolVersion !== LEGACY || isObject(offered),
        'capabilities must offer tasks.requests.tools.call (C-01)',
      ),
    ];
  },
  ping: (result) => only('result', result),
  'logging/setLevel': (result) => only('result', result),
  'tools/list': (result) => tools(LEGACY, result),
  'tools/call': (result, sent) => (becomesTask(result, sent) ? createdTask(result) : callResult(result)),
  'tasks/get': (result, sent) => [...fits('GetTaskResult', result), ...taskResult(result, sent)],
  'tasks/cancel': (result, sent) => [
    ...fits('CancelTaskResult', result),
    ...taskResult(result, sent),
    ...unless(result.status === 'cancelled', `status must be 'cancelled' (C-25)`),
  ],
  'tasks/list': (result) => [
    ...fits('ListTasksResult', result),
    ...list(result.tasks).flatMap((task, i) => legacyTask(`tasks/${i}`, members(task))),
    ...lacks('result/_meta', metaOf(result), RELATED_TASK),
  ],
  'tasks/result': (result, sent) => {
    const { taskId } = members(metaOf(result)[RELATED_TASK]);
    return [
      ...fits('GetTaskPayloadResult', result),
      ...callResult(result),
      ...unless(typeof taskId === 'string', `result/_meta must have '${RELATED_TASK}' with a taskId (C-17)`),
      ...sameTask('result/_meta', taskId, sent),
    ];
  },
};

/** 2025-06-18 knows no tasks, and ignores that one was asked for (C-03). */
function becomesTask(result: Members, { params, version = LEGACY }: Sent): boolean {
  if (params === undefined) return 'task' in result;
  return version === LEGACY && isObject(members(params).task);
}

function createdTask(result: Members): string[] {
  const task = members(result.task);
  return [
    ...fits('CreateTaskResult', result),
    ...legacyTask('task', task),
    ...only('result', result, 'task', '_meta'),
    ...unless(task.status === 'working', `a new task must be 'working' (C-09)`),
  ];
}

const callResult = (result: Members) => [...fits('CallToolResult', result), ...lacks('result', result, 'task')];

const taskResult: Rule = (result, sent) => [
  ...legacyTask('result', result),
  ...lacks('result/_meta', metaOf(result), RELATED_TASK),
  ...sameTask('result', result.taskId, sent),
];
