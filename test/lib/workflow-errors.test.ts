import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { definition } from '../../lib/workflow/definition.ts';
import { execution as input } from '../aws/row.ts';
import { evaluate } from './expression.ts';

interface Run {
  readonly Retry?: unknown;
  readonly Catch: readonly { readonly ErrorEquals: readonly string[] }[];
}
const { Retry, Catch }: Run = JSON.parse(definition('standard')).States.Run;
const named = (name: string) => `Lambda.${name}Exception`;
const PERHAPS = ['Service', 'AWSLambda', 'SdkClient', 'ClientExecutionTimeout'].map(named);
const CRASHED = ['Runtime.ExitError', 'Lambda.Unknown'];

test('an expression decides on each error of a call, and all others fail the task', () => {
  const [[tooLarge, ...decided] = [], all, ...others] = Catch.map(({ ErrorEquals }) => ErrorEquals);
  expect([tooLarge, all, others]).toEqual(['States.DataLimitExceeded', ['States.ALL'], []]);
  const unexecuted = ['TooManyRequests', 'ResourceNotReady'].map(named);
  expect(decided).toEqual(expect.arrayContaining([...unexecuted, ...PERHAPS, ...CRASHED]));
  expect(decided).not.toContain(named('EFSIO'));
});

test('no retrier takes an error of Run: it would know only the name, which a tool may throw', () => {
  expect(Retry).toBeUndefined();
});

test('a call that perhaps ran is tried again only for a tool that may be repeated', async () => {
  const again = async (name: string, repeatable: string[]) => {
    const errorOutput = { Error: name, Cause: 'The service is unavailable.' };
    return (await evaluate('retry/run-again.jsonata', { errorOutput, input: { tries: 0 } }, { repeatable })).tries;
  };
  for (const error of [...PERHAPS, ...CRASHED]) {
    expect([await again(error, []), await again(error, ['y']), await again(error, ['y', 'x'])]).toEqual([
      undefined,
      undefined,
      1,
    ]);
  }
  expect(await again(named('TooManyRequests'), [])).toBe(1);
});

describe('a throttled tool', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  const errorOutput = { Error: named('TooManyRequests'), Cause: 'Rate Exceeded.' };
  const until = (deadlineAt: number, tries: number) =>
    evaluate('retry/run-again.jsonata', { errorOutput, input: { tries } }, { Input: { ...input, deadlineAt } });
  /** The pauses in seconds until a deadline, where each takes a part of the longest that it may. */
  async function pauses(seconds: number, part: number): Promise<number[]> {
    vi.spyOn(Math, 'random').mockReturnValue(part);
    const deadlineAt = Date.now() + seconds * 1_000;
    const waits: number[] = [];
    while (Date.now() < deadlineAt) {
      const { wait } = await until(deadlineAt, waits.length);
      if (wait === undefined) break;
      waits.push(wait);
      vi.setSystemTime(Date.now() + wait * 1_000);
    }
    return waits;
  }
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

  test.each([900, 12 * 3_600, 366 * 86_400])('is tried again until its deadline, in %i s', async (seconds) => {
    const waits = await pauses(seconds, 0.5);
    expect(sum(waits)).toBe(seconds);
    // Nine events for each try, of 25,000 that an execution may have.
    expect(waits.length * 9).toBeLessThan(20_000);
  });

  test('waits no longer than 20 s and a hundredth of the time that it has waited', async () => {
    for (const seconds of [3_600, 7 * 86_400]) {
      const waits = await pauses(seconds, 0.999);
      expect(waits.filter((wait, at) => wait > 21 + sum(waits.slice(0, at)) / 100)).toEqual([]);
    }
  });

  test('waits no longer than a tenth of what is left: once there is room, it needs time', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.99999);
    const waits = [30_000, 3_000, 300, 150].map(async (left) => (await until(Date.now() + left * 1_000, 2_000)).wait);
    expect(await Promise.all(waits)).toEqual([3_000, 300, 30, 20]);
  });

  test('is not called all the time: no pause is shorter than a second', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    for (const tries of [0, 9, 2_000]) expect((await until(Date.now() + 3_600_000, tries)).wait).toBe(1);
  });

  test('is not tried more often than the history of an execution holds', async () => {
    const soon = Date.now() + 3_600_000;
    expect([(await until(soon, 2_499)).tries, (await until(soon, 2_500)).tries]).toEqual([2_500, undefined]);
  });
});

test.each([
  [15_500, 15],
  [1_500, 1],
  [500, 1],
  [-500, 1],
])('the wait of a throttled tool does not end after its deadline: %i ms before it', async (left, most) => {
  const errorOutput = { Error: named('TooManyRequests'), Cause: 'Rate Exceeded.' };
  const Input = { ...input, deadlineAt: Date.now() + left };
  const wait = () => evaluate('retry/run-again.jsonata', { errorOutput, input: { tries: 9 } }, { Input });
  const waits = (await Promise.all(Array.from({ length: 200 }, wait))).map((again) => again.wait);
  expect([Math.min(...waits), Math.max(...waits)]).toEqual([1, most]);
});

describe('an error with a name of AWS', () => {
  const nameOf = (name: string, Cause?: string) =>
    evaluate('retry/error-name.jsonata', { errorOutput: { Error: name, ...(Cause !== undefined && { Cause }) } });
  const report = (more: object) => JSON.stringify({ errorType: 'x', errorMessage: 'x', ...more });
  const OF_PROCESS = ['Runtime.ExitError', 'Sandbox.Timedout', 'Function.ResponseSizeTooLarge', 'Extension.Crash'];

  test.each([
    ...['Rate Exceeded. (Service: Lambda, Status Code: 429)', 'null (Service: AWSLambda; Status Code: 503)'],
    ...['The cause could not be determined. Returned payload: {"trace":[]}', 'EC2 throttled the function.'],
  ])('is of AWS if AWS says so in a sentence: %s', async (cause) => {
    for (const name of [named('TooManyRequests'), 'Lambda.Unknown', 'States.DataLimitExceeded', ...OF_PROCESS])
      expect(await nameOf(name, cause)).toBe(name);
  });

  test('that reports the end of a process is of AWS if its cause is short, without a trace', async () => {
    for (const name of OF_PROCESS) {
      expect(await nameOf(name, report({}))).toBe(name);
      for (const own of [{ trace: [] }, { stackTrace: [] }, { errorMessage: 'x'.repeat(1_000) }])
        expect(await nameOf(name, report(own))).toBe('ToolFailed');
    }
  });

  test.each([undefined, '', ' ', '{}', ' {"a":1}', '["Rate Exceeded."]', '"Rate Exceeded."', 'true', '429', '-1'])(
    'of Lambda is of the tool if its cause is %j',
    async (cause) => {
      for (const name of [named('TooManyRequests'), named('Service'), 'Lambda.Unknown'])
        expect(await nameOf(name, cause)).toBe('ToolFailed');
    },
  );

  test('of Step Functions is of the tool if its process reports one: a timeout has no cause', async () => {
    expect(await nameOf('States.Timeout')).toBe('States.Timeout');
    for (const cause of [report({}), '["x"]', '"x y"'])
      expect(await nameOf('States.Timeout', cause)).toBe('ToolFailed');
  });

  test('of a process is of the tool without a cause', async () => {
    for (const name of OF_PROCESS) expect(await nameOf(name)).toBe('ToolFailed');
  });
});
