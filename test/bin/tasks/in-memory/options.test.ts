import { describe, expect, test } from 'vitest';
import { filterOf, filtersIn, readArguments, targetOf, VERBS } from '../../../../bin/tasks/options.ts';
import { messageOf, UsageError } from '../../../../bin/tasks/usage-error.ts';
import { count, duration, statuses } from '../../../../bin/tasks/values.ts';
import { NotAllowed, OperatorError } from '../../../../functions/operator/errors.ts';
import { BACKFILLING } from '../../../../functions/tasks/aws/client.ts';
import { T0 } from '../../../functions/operator/operators.ts';

describe('the arguments of the command', () => {
  test('are a verb, words and the options of that verb', () => {
    expect(readArguments(['cancel', 'a', '--reason', 'x', 'b', '--yes'])).toMatchObject({
      ...{ verb: 'cancel', words: ['a', 'b'], values: { reason: 'x', yes: true, 'dry-run': false } },
    });
  });

  test.each([
    [[], 'Which verb?'],
    [['nope'], `There is no verb 'nope': ${VERBS.join(', ')}`],
    [['show', '--nope'], "Unknown option '--nope'. The options of show: --stack --region --profile --server"],
    [['show', '--reason', 'x'], "Unknown option '--reason'. The options of show"],
    [['cancel', '--owner', ''], '--owner has no value. The options of cancel'],
    [['rerun', '--owner'], "Option '--owner <value>' argument missing. The options of rerun"],
  ])('%j are refused, and what there is is named', (args, message) => {
    expect(() => readArguments(args)).toThrow(UsageError);
    expect(() => readArguments(args)).toThrow(message);
  });

  test('name a server, and tell filters from other options', () => {
    const { values } = readArguments(['list', '--stack', 's', '--region', 'r', '--profile', 'p', '--server', 'x']);
    expect(targetOf(values)).toEqual({ stack: 's', region: 'r', profile: 'p', server: 'x' });
    expect(targetOf(readArguments(['list']).values)).toEqual({});
    const given = readArguments(['cancel', '--owner', 'o', '--older-than', '1h', '--yes', '--reason', 'x']).values;
    expect(filtersIn(given)).toEqual(['owner', 'older-than']);
  });

  test('filter by what is given, with times as moments', () => {
    const filter = (...args: string[]) => filterOf(readArguments(['list', ...args]).values, T0);
    expect(filter()).toEqual({});
    expect(filter('--owner', 'o', '--tool', 't', '--status', 'failed')).toEqual({
      ...{ owner: 'o', tool: 't', statuses: ['failed'] },
    });
    expect(filter('--older-than', '1m', '--newer-than', '2m', '--ends-within', '3m')).toEqual({
      ...{ createdUntil: T0 - 60_000, createdFrom: T0 - 120_000, deadlineUntil: T0 + 180_000 },
    });
    // Of an empty field of the page.
    expect(filterOf({ owner: '', tool: '', status: '', 'older-than': '' }, T0)).toStrictEqual({});
    expect(() => filter('--older-than', '5')).toThrow("--older-than is a time such as 90s, 10m, 2h or 1d, not '5'");
  });
});

test.each([
  ['90s', 90_000],
  ['1.5m', 90_000],
  ['1.25h', 4_500_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['0s', 0],
])('%s is %i ms', (text, ms) => {
  expect(duration('--since', text)).toBe(ms);
});

test.each(['', 's', '5', '5 m', '5x', 'x5m', '5mm', '.5m', '-5m'])("'%s' is no time", (text) => {
  expect(() => duration('--since', text)).toThrow(UsageError);
});

test('a count is a whole number above 0, of nine digits at most', () => {
  expect([count('--max', '1'), count('--max', '999999999')]).toEqual([1, 999_999_999]);
  for (const text of ['0', '01', '-1', '1.5', 'x1', '1x', '', '1000000000']) {
    expect(() => count('--max', text), text).toThrow(`--max is a whole number above 0, not '${text}'`);
  }
});

test('statuses are words for several, or names', () => {
  expect(statuses('open')).toEqual(['working', 'waiting', 'input_required']);
  expect(statuses('ended')).toEqual(['completed', 'failed', 'cancelled']);
  expect(statuses('all')).toHaveLength(6);
  expect(statuses('failed, working')).toEqual(['failed', 'working']);
  expect(() => statuses('failed,done')).toThrow(
    "some of working, waiting, input_required, completed, failed, cancelled, not 'done'",
  );
});

test.each([
  [new UsageError('use'), 'use'],
  [new OperatorError('operate'), 'operate'],
  [new NotAllowed('Not done', 'act', 'do it'), 'Not done: your credentials may not do it. The act policy'],
  [
    Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' }),
    'AWS refused: your credentials may not do that (not authorized). The read policy',
  ],
  [Object.assign(new Error('slow'), { name: 'ThrottlingException' }), 'ThrottlingException: slow'],
  [new Error('plain'), 'plain'],
  [
    Object.assign(new Error('Backfilling'), { name: BACKFILLING }),
    'The index of tasks by status is being built: lists, and searches for the end of an id, work once DynamoDB',
  ],
])('an error is one sentence: %s', (error, message) => {
  expect(messageOf(error).startsWith(message)).toBe(true);
});
