import { expect, test } from 'vitest';
import { errorMessage } from '../../../functions/mcp/protocol/jsonrpc.ts';
import * as errors from '../../../functions/tasks/errors.ts';

const again = 'in a few seconds';

/** What each error shows to a client: its code, HTTP status of 2026-07-28, message and data. */
const rows: readonly (readonly [() => errors.McpError, number, number, string, unknown])[] = [
  [() => new errors.ParseError(), -32700, 400, 'Parse error: the body is not valid JSON', undefined],
  [() => new errors.InvalidRequest('no'), -32600, 400, 'no', undefined],
  [() => new errors.InvalidRequest('no', 405, { a: 1 }), -32600, 405, 'no', { a: 1 }],
  [() => new errors.MethodNotFound('m'.repeat(101)), -32601, 404, `Method not found: ${'m'.repeat(100)}`, undefined],
  [() => new errors.NotSupportedByTool('no'), -32601, 200, 'no', undefined],
  [() => new errors.InvalidParams('no'), -32602, 200, 'no', undefined],
  [() => new errors.InvalidParams('no', 400), -32602, 400, 'no', undefined],
  [() => new errors.TaskNotFound(), -32602, 200, 'Task not found', undefined],
  [() => new errors.InternalError(), -32603, 200, 'Internal error', undefined],
  [
    () => new errors.RecordUnknown('t'),
    ...([-32603, 200] as const),
    'Task t was stored by another release of this server: ask for it again after the deployment',
    { reason: 'RecordUnknown', taskId: 't' },
  ],
  [
    () => new errors.Unavailable(),
    ...([-32603, 200] as const),
    `The server cannot do this at the moment: try again ${again}`,
    { reason: 'Unavailable' },
  ],
  [
    () => new errors.TooManyStarts(true),
    ...([-32603, 429] as const),
    'Too many tasks are started at the moment: try again in 5 s',
    { reason: 'Unavailable' },
  ],
  [
    () => new errors.TaskUnread('t'),
    ...([-32603, 200] as const),
    `Task t was started, but cannot be read at the moment: ask for it again ${again}`,
    { reason: 'Unavailable', taskId: 't' },
  ],
  [
    () => new errors.TooManyTasks(7),
    ...([-32603, 200] as const),
    'Too many open tasks: 7 have not ended. Wait for one of them, or cancel it',
    { reason: 'TooManyOpenTasks', limit: 7 },
  ],
  [
    () => new errors.TooManyPolls(3),
    ...([-32600, 429] as const),
    'This task is asked for too often: wait 3 s, and then its poll interval between polls',
    undefined,
  ],
  [
    () => new errors.InsufficientScope(['a', 'b']),
    ...([-32600, 403] as const),
    'Forbidden: get a token with the scopes a b',
    { reason: 'InsufficientScope', scopes: ['a', 'b'] },
  ],
  [() => new errors.HeaderMismatch('x'), -32020, 400, 'Header mismatch: x', undefined],
  [
    () => new errors.MissingClientCapability('x', { extensions: { 'io.example/y': {} } }),
    ...([-32021, 400] as const),
    'x: declare the extension io.example/y',
    { requiredCapabilities: { extensions: { 'io.example/y': {} } } },
  ],
  [
    () => new errors.MissingClientCapability('x', { elicitation: { form: {} } }),
    ...([-32021, 400] as const),
    'x: declare the capability elicitation.form',
    { requiredCapabilities: { elicitation: { form: {} } } },
  ],
  [
    () => new errors.MissingClientCapability('x', { roots: {} }),
    ...([-32021, 400] as const),
    'x: declare the capability roots',
    { requiredCapabilities: { roots: {} } },
  ],
  [
    () => new errors.UnsupportedVersion(['v'], 'w'),
    ...([-32022, 400] as const),
    'Unsupported protocol version',
    { supported: ['v'], requested: 'w' },
  ],
];

// Made within the test, and with a title that has no message: so Stryker knows which test is about which error.
test.each(rows)('error %# shows its code, status, message and data (A-15)', (make, code, httpStatus, message, data) => {
  const error = make();
  expect(error).toMatchObject({ code, httpStatus, message, name: error.constructor.name });
  expect(error.data).toStrictEqual(data);
});

test('only what passes says when to try again, in seconds (E-29)', () => {
  expect(new errors.TooManyPolls(3).retryAfter).toBe(3);
  expect(new errors.TooManyStarts(true)).toMatchObject({ retryAfter: 5, certain: true });
  expect(new errors.TooManyStarts(false).certain).toBe(false);
  expect(new errors.Unavailable().retryAfter).toBeUndefined();
});

test('an error keeps its cause, which no client sees (A-15)', () => {
  const cause = new Error('arn:aws:dynamodb:secret');
  for (const error of [
    new errors.InternalError('no', {}, cause),
    new errors.Unavailable(cause),
    new errors.TaskUnread('t', cause),
  ]) {
    expect(error.cause).toBe(cause);
    expect(JSON.stringify(errorMessage(1, error))).not.toContain('secret');
  }
  expect(new errors.InternalError()).not.toHaveProperty('cause');
});
