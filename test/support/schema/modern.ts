import { declaredKinds, declaresTasks } from './declared.ts';
import { fitsExtension } from './extension.ts';
import { fits as fitsIn, MODERN } from './published.ts';
import {
  lacks,
  list,
  type Members,
  members,
  metaOf,
  only,
  RELATED_TASK,
  type Sent,
  SUBSCRIPTION_ID,
  TASKS,
  unless,
} from './rules.ts';
import { completeCall, detailedTask, inputRequestProblems, modernTask, sameTask, tools } from './task.ts';

type Rule = (result: Members, sent: Sent) => string[];
const fits = (name: string, value: unknown) => fitsIn(MODERN, name, value);

/** Requests that 2026-07-28 no longer knows: they have no valid result (E-22). */
const NOT_HERE = [
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/result',
  'tasks/list',
];
/** Which results may be something else than complete (D-20, E-07). */
const TYPES: Readonly<Record<string, readonly unknown[]>> = {
  'tools/call': ['complete', 'input_required', 'task'],
  'prompts/get': ['complete', 'input_required'],
  'resources/read': ['complete', 'input_required'],
};

export function modernResult(method: string, result: Members, sent: Sent): string[] {
  const types = TYPES[method] ?? ['complete'];
  return [
    ...unless(!NOT_HERE.includes(method), `${method} has no result in ${MODERN}`),
    ...fits('Result', result),
    ...unless(types.includes(result.resultType), `resultType must be one of ${types.join(', ')}`),
    ...lacks('result/_meta', metaOf(result), RELATED_TASK),
    ...(result.resultType === 'input_required' ? inputRequired(result, sent) : (rules[method]?.(result, sent) ?? [])),
  ];
}

const rules: Readonly<Record<string, Rule>> = {
  'server/discover': (result) => {
    const { capabilities, supportedVersions } = result;
    const extension = members(members(capabilities).extensions)[TASKS];
    return [
      ...fits('DiscoverResult', result),
      ...lacks('result', result, 'serverInfo'),
      ...lacks('capabilities', capabilities, 'tasks', 'logging'),
      ...unless(JSON.stringify(extension) === '{}', `capabilities.extensions['${TASKS}'] must be {} (E-01)`),
      ...unless(list(supportedVersions).includes(MODERN), `supportedVersions must list ${MODERN}`),
    ];
  },
  'tools/list': (result) => [
    ...tools(MODERN, result),
    ...list(result.tools).flatMap((tool, i) => lacks(`tools/${i}`, tool, 'execution')),
  ],
  'tools/call': (result, sent) =>
    result.resultType === 'task' ? createdTask(result, sent) : completeCall('result', result),
  'tasks/get': (result, sent) => [
    ...fitsExtension('GetTaskResult', result),
    ...detailedTask('result', result),
    ...sameTask('result', result.taskId, sent),
  ],
  'tasks/update': (result) => [...fitsExtension('UpdateTaskResult', result), ...acknowledgement(result)],
  'tasks/cancel': (result) => [...fitsExtension('CancelTaskResult', result), ...acknowledgement(result)],
  'subscriptions/listen': (result, sent) => [
    ...fits('SubscriptionsListenResult', result),
    ...unless(
      sent.id === undefined || metaOf(result)[SUBSCRIPTION_ID] === sent.id,
      `result/_meta['${SUBSCRIPTION_ID}'] must be the id of the request (D-31)`,
    ),
  ],
};

/** An acknowledgement without any part of the task (E-17, E-21). */
const acknowledgement = (result: Members) => only('result', result, 'resultType', '_meta');

/** A flat task, without the members of `tasks/get`, only for clients that opted in (E-03, E-06, X-12). */
function createdTask(result: Members, sent: Sent): string[] {
  return [
    ...fitsExtension('CreateTaskResult', result),
    ...modernTask('result', result),
    ...lacks('result', result, 'result', 'error', 'inputRequests'),
    ...unless(result.status === 'working', `a new task must be 'working'`),
    ...unless(declaresTasks(sent), 'the request did not declare the tasks extension (E-03)'),
  ];
}

/** D-16, D-21, D-22. */
function inputRequired(result: Members, sent: Sent): string[] {
  const { inputRequests, requestState } = result;
  const declared = declaredKinds(sent);
  return [
    ...fits('InputRequiredResult', result),
    ...unless(inputRequests !== undefined || requestState !== undefined, 'inputRequests or requestState must be there'),
    ...(inputRequests === undefined ? [] : inputRequestProblems('inputRequests', inputRequests)),
    ...lacks('result', result, 'ttlMs', 'cacheScope', 'content', 'taskId', 'task'),
    ...Object.values(members(inputRequests)).flatMap((request) =>
      unless(declared(members(request)), `the request did not declare ${String(members(request).method)} (D-22)`),
    ),
  ];
}
