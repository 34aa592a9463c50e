import { describe, expect, test } from 'vitest';
import { checkMessage, type Era, type Sent } from '../index.ts';

const L: Era = '2025-11-25';
const M: Era = '2026-07-28';
const times = { createdAt: '2026-07-28T10:00:00.000Z', lastUpdatedAt: '2026-07-28T10:00:01Z' };
const old = { taskId: 't', status: 'working', ...times, ttl: null };
const task = { taskId: 't', status: 'working', ...times, ttlMs: null };
const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } };
const tag = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });
const ask = {
  message: 'm',
  requestedSchema: { type: 'object', properties: { score: { type: 'number', default: 95.5 } } },
};
const sample = { maxTokens: 5, messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] };
const LISTEN = 'subscriptions/listen';
const listen: Sent = { id: 'l', method: LISTEN, params: { notifications: { taskIds: ['t'], toolsListChanged: true } } };
const call: Sent = { id: 2, method: 'tools/call', params: { _meta: { progressToken: 'p' } } };
const wait: Sent = { id: 3, method: 'tasks/result', params: { taskId: 't' } };
const ack = (notifications: object) =>
  ['notifications/subscriptions/acknowledged', { notifications, ...tag('l') }] as const;

const message = (method: string, params: object, more: object = {}) => ({ jsonrpc: '2.0', method, params, ...more });

describe('a message that a server may send by itself', () => {
  test.each<[Era, string, object, Sent?, object?]>([
    [L, 'elicitation/create', { ...ask, ...related }, wait, { id: 'x' }],
    [L, 'elicitation/create', { mode: 'url', message: 'm', url: 'a:b', elicitationId: 'e' }, call, { id: 'x' }],
    [L, 'sampling/createMessage', sample, call, { id: 'x' }],
    [L, 'notifications/progress', { progressToken: 'p', progress: 0.5 }, call],
    [L, 'notifications/progress', { progressToken: 'of the call', progress: 1 }, wait],
    [L, 'notifications/message', { level: 'info', data: 'x' }],
    [L, 'notifications/tasks/status', old],
    [M, 'notifications/progress', { progressToken: 'p', progress: 1 }, call],
    [M, 'notifications/message', { level: 'info', data: 5 }],
    [M, ...ack({ taskIds: ['t'] }), listen],
    [M, 'notifications/tasks', { ...task, ...tag('l') }, listen],
    [M, 'notifications/tools/list_changed', tag('l'), listen],
  ])('%s %s %o', (era, method, params, sent, more) => {
    expect(() => checkMessage(era, message(method, params, more), sent)).not.toThrow();
  });

  test.each<[Era, string, object, RegExp, Sent?, object?]>([
    [L, 'elicitation/create', ask, /C-21/, wait, { id: 'x' }],
    [L, 'elicitation/create', ask, /required property 'id'/],
    [L, 'elicitation/create', { mode: 'url', message: 'm', url: 'a:b' }, /elicitationId/, call, { id: 'x' }],
    [
      L,
      'elicitation/create',
      { message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'object' } } } },
      /ElicitRequest/,
      call,
      { id: 1 },
    ],
    [L, 'sampling/createMessage', { messages: [] }, /maxTokens/, call, { id: 'x' }],
    [L, 'notifications/progress', { progressToken: 'q', progress: 1 }, /A-22/, call],
    [L, 'notifications/progress', { progressToken: 'p', progress: 1 }, /'id'/, call, { id: 1 }],
    [L, 'notifications/tasks/status', { ...old, ...related }, /related-task/],
    [L, 'notifications/tasks', { ...task, ...tag('l') }, /no such message/],
    [L, 'notifications/made/up', {}, /no such message/],
    [M, 'elicitation/create', ask, /no such message.*D-19/s, call, { id: 'x' }],
    [M, 'notifications/tasks/status', old, /no such message/],
    [M, 'notifications/message', { level: 'info', data: 5 }, /D-27/, call],
    [M, 'notifications/progress', { progressToken: 'p', progress: 1 }, /not a message for the stream/, listen],
    [M, 'notifications/tasks', { ...task, ...tag('l') }, /not a message for the stream/, call],
    [M, 'notifications/tasks', task, /D-30/, listen],
    [M, 'notifications/tasks', { ...task, ...tag('m') }, /D-30/, listen],
    [M, 'notifications/tasks', { ...task, taskId: 'u', ...tag('l') }, /no request asked/, listen],
    [M, 'notifications/tasks', { ...task, resultType: 'complete', ...tag('l') }, /'resultType'/, listen],
    [M, 'notifications/tasks', { ...task, status: 'completed', ...tag('l') }, /TaskStatusNotification/, listen],
    [M, ...ack({ taskIds: ['t', 'u'] }), /more than the request/, listen],
    [M, ...ack({ promptsListChanged: true }), /more than the request/, listen],
    [M, ...ack({ taskIds: 't' }), /ext-tasks/, listen],
  ])('not %s %s %o', (era, method, params, problem, sent, more) => {
    expect(() => checkMessage(era, message(method, params, more), sent)).toThrow(problem);
  });

  test('something else entirely', () => expect(() => checkMessage(L, 'hi')).toThrow(/a message is an object/));
});
