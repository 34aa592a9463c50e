import { fitsExtension } from './extension.ts';
import { type Era, fits, LEGACY, MODERN, serverMessages } from './published.ts';
import {
  isObject,
  lacks,
  list,
  type Members,
  members,
  metaOf,
  RELATED_TASK,
  type Sent,
  SUBSCRIPTION_ID,
  unless,
} from './rules.ts';
import { detailedTask, legacyTask, sameTask } from './task.ts';

const LISTEN = 'subscriptions/listen';
const OF_A_REQUEST: readonly unknown[] = ['notifications/progress', 'notifications/message'];
const published = { '2025-11-25': serverMessages(LEGACY), '2026-07-28': serverMessages(MODERN) };

/** The problems of a request or a notification of the server, on the stream of `sent` if it is known. */
export function messageProblems(era: Era, message: Members, sent: Sent): string[] {
  const { method, params } = message;
  const name = published[era].get(String(method));
  const ours = era === MODERN && method === 'notifications/tasks';
  // A task keeps the token of the request that made it, which a `tasks/result` stream does not know (C-33).
  const tokenKnown = method === 'notifications/progress' && sent.params !== undefined && sent.method !== 'tasks/result';
  return [
    ...(name === undefined ? unless(ours, `${era} has no such message`) : fits(era, name, message)),
    ...lacks('message', message, 'result', 'error', ...(String(method).startsWith('notifications/') ? ['id'] : [])),
    ...unless(
      !tokenKnown || members(params).progressToken === metaOf(sent.params).progressToken,
      'progressToken is not the one of the request (A-22)',
    ),
    ...(era === MODERN ? modernMessage(message, members(params), sent) : legacyMessage(message, members(params), sent)),
  ];
}

function legacyMessage({ method, id }: Members, params: Members, sent: Sent): string[] {
  const { taskId } = members(metaOf(params)[RELATED_TASK]);
  const belongs = id !== undefined && sent.method === 'tasks/result';
  return [
    ...(method === 'notifications/tasks/status' ? legacyTask('params', params) : []),
    ...(method === 'notifications/tasks/status' ? lacks('params/_meta', metaOf(params), RELATED_TASK) : []),
    ...unless(!belongs || typeof taskId === 'string', `params/_meta must have '${RELATED_TASK}' (C-21)`),
    ...(belongs ? sameTask('params/_meta', taskId, sent) : []),
  ];
}

function modernMessage(message: Members, params: Members, sent: Sent): string[] {
  const { method } = message;
  const asked = members(members(sent.params).notifications);
  const pushed = !OF_A_REQUEST.includes(method);
  const level = metaOf(sent.params)['io.modelcontextprotocol/logLevel'];
  return [
    ...unless(!('id' in message), 'a server sends no requests (D-19)'),
    ...lacks('params/_meta', metaOf(params), RELATED_TASK),
    ...unless(
      sent.method === undefined || pushed === (sent.method === LISTEN),
      `not a message for the stream of ${String(sent.method)}`,
    ),
    ...(pushed ? subscriptionId(params, sent) : []),
    ...unless(
      method !== 'notifications/message' || sent.params === undefined || level !== undefined,
      'the request set no log level (D-27)',
    ),
    ...(method === 'notifications/tasks' ? taskNotification(message, params, asked, sent) : []),
    ...(method === 'notifications/subscriptions/acknowledged' ? acknowledged(params, asked, sent) : []),
  ];
}

/** Every message that was subscribed to says by which request (D-30). */
function subscriptionId(params: Members, sent: Sent): string[] {
  const id = metaOf(params)[SUBSCRIPTION_ID];
  return unless(
    id !== undefined && (sent.id === undefined || id === sent.id),
    `params/_meta['${SUBSCRIPTION_ID}'] must be the id of the listen request (D-30)`,
  );
}

/** Has the same content as `tasks/get`, for a task of the subscription (E-24, D-30). */
function taskNotification(message: Members, params: Members, asked: Members, sent: Sent): string[] {
  return [
    ...fitsExtension('TaskStatusNotification', message),
    ...detailedTask('params', params),
    ...lacks('params', params, 'resultType'),
    ...unless(
      sent.params === undefined || list(asked.taskIds).includes(params.taskId),
      'no request asked for this task',
    ),
  ];
}

/** Promises no more than was asked for (D-30, E-25). */
function acknowledged(params: Members, asked: Members, sent: Sent): string[] {
  const granted = isObject(params.notifications) ? params.notifications : {};
  const more = Object.entries(granted).filter(([key, value]) =>
    Array.isArray(value) ? value.some((one) => !list(asked[key]).includes(one)) : value === true && asked[key] !== true,
  );
  return [
    ...fitsExtension('TaskSubscriptionAcknowledgedNotifications', params.notifications),
    ...unless(sent.params === undefined || more.length === 0, `acknowledges more than the request: ${more.join()}`),
  ];
}
