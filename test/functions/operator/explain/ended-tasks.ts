import { EXPRESS_TOOL, T0, task } from '../operators.ts';
import { by, crashed, failed, OLD, OWN, REPEATABLE, type Scenario, state } from './scenario.ts';

const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const ofSchema = (result: unknown, outputSchemaId = 's') =>
  task({ status: 'completed', result: JSON.stringify(result), outputSchemaId });
const SCHEMA = { outputSchema: schema, outputSchemaId: 's' };

/** Tasks that have ended, and one of another release. */
export const ENDED_TASKS: Readonly<Record<string, Scenario>> = {
  'idempotency key expired': { record: failed('KeyExpired') },
  'not started': { record: failed('NotStarted') },
  'not started, its tool was removed': { record: failed('NotStarted'), tool: null },
  'failed by an operator': { record: failed('EndedByOperator', {}, by('failed', {})), tool: REPEATABLE },
  'throttled until its deadline': {
    record: failed('Throttled'),
    ...{ run: 'FAILED', failures: ['Lambda.TooManyRequestsException'], tool: REPEATABLE },
  },
  'timed out': { record: failed('TimedOut', { reason: 'States.Timeout' }), run: 'FAILED' },
  'timed out after it was throttled': {
    record: failed('TimedOut', { reason: 'States.Timeout' }),
    ...{ run: 'FAILED', failures: ['Lambda.TooManyRequestsException'] },
  },
  'no outcome by its deadline': { record: task(), now: task().deadlineAt - T0 + 30_001 },
  'failed by a crash': { record: crashed('Runtime.ExitError'), run: 'FAILED', failures: ['Runtime.ExitError'] },
  'failed by a second crash': {
    record: crashed('Lambda.Unknown'),
    run: 'FAILED',
    failures: ['Lambda.Unknown', 'Lambda.Unknown'],
  },
  'input lost': { record: failed('InputLost') },
  'asked in a form that is not valid': { record: failed('InputRequestInvalid') },
  'asked for what the client cannot give': { record: failed('InputNotSupported') },
  'asked for too much': { record: failed('InputRequestTooLarge') },
  'three answers that are not valid': { record: failed('AnswerInvalid') },
  'run lost': { record: failed('RunLost', { reason: 'Aborted' }) },
  'threw an error': { record: crashed('TypeError'), run: 'FAILED', failures: ['TypeError'] },
  'threw an error, may be repeated': { record: crashed('TypeError'), run: 'FAILED', tool: REPEATABLE },
  'refused by its client': { record: failed('ClientRefused') },
  'failed in a state': {
    record: failed('ToolFailed'),
    ...{ run: 'FAILED', tool: { stateMachineArn: OWN } },
    states: [
      state(1, 'TaskStateEntered', 'A'),
      state(2, 'TaskFailed', undefined, 'E'),
      ...[3, 4].map((id) => state(id, 'TaskFailed', undefined, 'F')),
    ],
  },
  'result does not fit its schema': { record: ofSchema({ n: 'x' }), tool: SCHEMA, payload: true },
  'result does not fit its schema, which may not be read': { record: ofSchema({ n: 'x' }), tool: SCHEMA },
  'result fits its schema': { record: ofSchema({ n: 1 }), tool: SCHEMA, payload: true },
  'result has another schema': { record: ofSchema({ n: 'x' }, 'older'), tool: SCHEMA, payload: true },
  'structured content does not fit its schema': {
    record: ofSchema({ structuredContent: { n: 'x' } }),
    tool: SCHEMA,
    payload: true,
  },
  'content without structured content': { record: ofSchema({ content: [] }), tool: SCHEMA, payload: true },
  'an error result is held against no schema': {
    record: ofSchema({ isError: true, content: [] }),
    tool: SCHEMA,
    payload: true,
  },
  'six problems, five are shown': {
    record: ofSchema(Object.fromEntries([...'abcdef'].map((name) => [name, 1]))),
    tool: { ...SCHEMA, outputSchema: { ...schema, required: [], additionalProperties: false } },
    payload: true,
  },
  'a schema of 2020-12': {
    record: ofSchema({ n: [1, 'x'] }),
    tool: { ...SCHEMA, outputSchema: { properties: { n: { prefixItems: [{ type: 'number' }, { type: 'number' }] } } } },
    payload: true,
  },
  'lacks a member that each object inherits': {
    record: ofSchema({}),
    tool: { ...SCHEMA, outputSchema: { required: ['toString'] } },
    payload: true,
  },
  'cancelled, its tool has a schema': {
    record: task({ status: 'cancelled', outputSchemaId: 's', ...by('cancelled', {}) }),
    tool: SCHEMA,
    payload: true,
  },
  'completed, its tool has no schema': { record: task({ status: 'completed', result: '{}' }), payload: true },
  'a schema of draft 7': {
    record: ofSchema({ n: [1, 'x'] }),
    tool: {
      ...SCHEMA,
      outputSchema: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { n: { items: [{ type: 'number' }, { type: 'number' }] } },
      },
    },
    payload: true,
  },
  'cancelled by its client': { record: task({ status: 'cancelled', ...by('cancelled', {}) }) },
  'cancelled by its client, after an operator had answered': {
    record: task({
      status: 'cancelled',
      events: [
        { at: T0, what: 'answered', by: 'operator', who: 'ann' },
        { at: T0 + 1, what: 'cancelled', by: 'endpoint' },
      ],
    }),
  },
  'cancelled by its client, and its record has no event of that': {
    record: task({ status: 'cancelled', events: [{ at: T0, what: 'answered', by: 'operator', who: 'ann' }] }),
  },
  'cancelled by an operator': {
    record: task({ status: 'cancelled', ...by('cancelled', { by: 'operator', who: 'ann', reason: 'INC-7' }) }),
  },
  'cancelled by an operator without a name': {
    record: task({ status: 'cancelled', ...by('cancelled', { by: 'operator' }) }),
    tool: REPEATABLE,
  },
  'returned an error': { record: task({ status: 'completed', isError: true }), run: 'SUCCEEDED' },
  'returned an error on Express': {
    record: task({ status: 'completed', isError: true, engine: 'express' }),
    tool: EXPRESS_TOOL,
  },
  'returned an error, and its run is not kept any more': {
    record: task({
      ...{ status: 'completed', isError: true },
      events: [
        { at: T0, what: 'created' },
        { at: T0 + 9, what: 'completed', startedAt: T0 + 1 },
      ],
    }),
  },
  'arguments refused': { record: task({ status: 'completed', isError: true }) },
  'completed in round 2, and its run is not kept any more': {
    record: task({ status: 'completed', round: 2 }),
    now: OLD,
  },
  completed: { record: task({ status: 'completed' }), run: 'SUCCEEDED' },
  'of another release': { record: task({ version: 99 }) },
};
