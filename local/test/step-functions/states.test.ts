import { describe, expect, it } from 'vitest';
import { machine, RESOURCE, serve, single } from './support.ts';

describe('Pass', () => {
  it('passes its input on when it has no Output', async () => {
    const local = await serve(single({ Type: 'Pass' }));
    expect(await local.output({ a: [1, null, 'é'] })).toEqual({ a: [1, null, 'é'] });
  });

  it('outputs a template: expressions evaluated, everything else literal', async () => {
    const Output = { sum: '{% $states.input.a + 1 %}', list: ['{% $states.input.a %}', '$a', ' {% 1 %} '], none: null };
    const local = await serve(single({ Type: 'Pass', Output }));
    expect(await local.output({ a: 1 })).toEqual({ sum: 2, list: [1, '$a', ' {% 1 %} '], none: null });
  });
});

describe('Assign', () => {
  it('makes variables for later states, not for the Output beside it', async () => {
    const local = await serve(
      machine({
        StartAt: 'A',
        States: {
          A: { Type: 'Pass', Assign: { n: 1, list: '{% [1..3] %}' }, Next: 'B' },
          B: { Type: 'Pass', Assign: { n: '{% $n + 1 %}' }, Output: '{% $n %}', Next: 'C' },
          C: { Type: 'Succeed', Output: { before: '{% $states.input %}', after: '{% $n %}', list: '{% $list %}' } },
        },
      }),
    );
    expect(await local.output()).toEqual({ before: 1, after: 2, list: [1, 2, 3] });
  });

  it('fails with States.DataLimitExceeded when one Assign is over 256 KiB', async () => {
    const local = await serve(single({ Type: 'Pass', Assign: { big: "{% $pad('', 262144, 'x') %}" } }));
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
  });
});

describe('Choice', () => {
  const choose = machine({
    StartAt: 'Route',
    States: {
      Route: {
        Type: 'Choice',
        Choices: [
          { Condition: '{% $states.input.n > 10 %}', Next: 'End', Output: 'big', Assign: { why: 'rule 1' } },
          { Condition: "{% $states.input.n = 'x' %}", Next: 'Bad' },
          { Condition: '{% $states.input.n > 5 %}', Next: 'End', Assign: { why: 'rule 3' } },
        ],
        Default: 'End',
        Output: 'small',
        Assign: { why: 'default' },
      },
      End: { Type: 'Succeed', Output: { got: '{% $states.input %}', why: '{% $why %}' } },
      Bad: { Type: 'Fail' },
    },
  });

  it('takes the first rule that is true, with its own Output and Assign', async () => {
    const local = await serve(choose);
    expect(await local.output({ n: 11 })).toEqual({ got: 'big', why: 'rule 1' });
    expect(await local.output({ n: 6 })).toEqual({ got: { n: 6 }, why: 'rule 3' });
  });

  it('takes Default with the Output and Assign of the state when no rule is true', async () => {
    const local = await serve(choose);
    expect(await local.output({ n: 1 })).toEqual({ got: 'small', why: 'default' });
  });

  it('fails with States.NoChoiceMatched without a Default', async () => {
    const Route = { Type: 'Choice', Choices: [{ Condition: false, Next: 'End' }] };
    const local = await serve(machine({ StartAt: 'Route', States: { Route, End: { Type: 'Succeed' } } }));
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.NoChoiceMatched' });
  });

  it('fails with States.QueryEvaluationError when a Condition is not a boolean', async () => {
    const Route = { Type: 'Choice', Choices: [{ Condition: '{% 1 %}', Next: 'End' }], Default: 'End' };
    const local = await serve(machine({ StartAt: 'Route', States: { Route, End: { Type: 'Succeed' } } }));
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });
});

describe('Wait', () => {
  const waited = async (fields: object, input: unknown = {}, now = Date.now, timeScale = 100) => {
    const local = await serve(single({ Type: 'Wait', ...fields }), { now, timeScale });
    const started = performance.now();
    const { status, error } = await local.run(input);
    return { status, error, milliseconds: performance.now() - started };
  };

  it.each([
    ['literal Seconds', { Seconds: 1_000 }],
    ['an expression for Seconds', { Seconds: '{% $states.input.wait %}' }],
  ])('waits %s, divided by timeScale', async (_, fields) => {
    const { status, milliseconds } = await waited(fields, { wait: 1_000 }, Date.now, 10_000);
    expect(status).toBe('SUCCEEDED');
    expect(milliseconds).toBeGreaterThan(95);
  });

  it('waits until Timestamp by the clock of the engine', async () => {
    const now = () => Date.parse('2030-01-01T00:00:00Z');
    const { milliseconds } = await waited({ Timestamp: '{% $states.input.at %}' }, { at: '2030-01-01T00:00:10Z' }, now);
    expect(milliseconds).toBeGreaterThan(95);
    const past = await waited({ Timestamp: '2029-12-31T23:59:50+00:00' }, {}, now);
    expect(past).toMatchObject({ status: 'SUCCEEDED' });
  });

  it.each([
    ['a fraction', { Seconds: '{% 0.5 %}' }],
    ['a negative number', { Seconds: '{% -1 %}' }],
    ['a string', { Seconds: "{% '1' %}" }],
    ['not a timestamp', { Timestamp: "{% 'tomorrow' %}" }],
  ])('fails with States.QueryEvaluationError when the expression answers %s', async (_, fields) => {
    expect(await waited(fields)).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });
});

describe('Succeed and Fail', () => {
  it('Succeed ends the execution with its Output', async () => {
    const local = await serve(machine({ StartAt: 'S', States: { S: { Type: 'Succeed', Output: '{% 1 + 1 %}' } } }));
    expect(await local.output()).toBe(2);
  });

  it('Fail ends the execution FAILED with Error and Cause, literal or computed', async () => {
    const S = { Type: 'Fail', Error: 'Mine', Cause: "{% 'no ' & $states.input.what %}" };
    const local = await serve(machine({ StartAt: 'S', States: { S } }));
    expect(await local.run({ what: 'luck' })).toMatchObject({ status: 'FAILED', error: 'Mine', cause: 'no luck' });
  });

  it('Fail without fields has neither error nor cause', async () => {
    const local = await serve(machine({ StartAt: 'S', States: { S: { Type: 'Fail' } } }));
    const { status, error, cause } = await local.run();
    expect({ status, error, cause }).toEqual({ status: 'FAILED', error: undefined, cause: undefined });
  });

  it('a Cause that is not a string is a States.QueryEvaluationError', async () => {
    const local = await serve(machine({ StartAt: 'S', States: { S: { Type: 'Fail', Cause: '{% 1 %}' } } }));
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });
});

describe('a machine of Run and Finish', () => {
  it('charges exactly two transitions on the happy path', async () => {
    const calls: unknown[] = [];
    const local = await serve(
      machine({
        StartAt: 'Run',
        States: {
          Run: {
            Type: 'Task',
            Resource: RESOURCE,
            Arguments: { step: 'run', of: '{% $states.input.id %}' },
            Output: { done: '{% $states.result.Payload %}' },
            Next: 'Finish',
          },
          Finish: { Type: 'Task', Resource: RESOURCE, Arguments: '{% $states.input %}', Output: {}, End: true },
        },
      }),
      { task: async (call) => calls.push(call.arguments) && { Payload: 42 } },
    );
    const arn = await local.start({ id: 'a' });
    expect(await local.ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: '{}' });
    expect(calls).toEqual([{ step: 'run', of: 'a' }, { done: 42 }]);
    expect(local.snapshot(arn)).toMatchObject({ states: ['Run', 'Finish'], transitions: 2 });
    const events = await local.events(arn);
    expect(events.filter((type) => type.endsWith('StateEntered'))).toHaveLength(2);
  });
});

it('a machine that loops for ever ends with States.Runtime at 25,000 history events', async () => {
  const A = { Type: 'Pass', Next: 'B' };
  const B = { Type: 'Choice', Choices: [{ Condition: true, Next: 'A' }], Default: 'C' };
  const local = await serve(machine({ StartAt: 'A', States: { A, B, C: { Type: 'Succeed' } } }));
  expect(await local.run()).toMatchObject({
    status: 'FAILED',
    error: 'States.Runtime',
    cause: expect.stringContaining('25000'),
  });
});

it('a machine that names no language runs if each of its states says JSONata, as CDK writes it', async () => {
  const jsonata = (state: object) => ({ QueryLanguage: 'JSONata', ...state });
  const inner = {
    StartAt: 'In',
    States: { In: jsonata({ Type: 'Pass', Output: '{% $states.input * 2 %}', End: true }) },
  };
  const all = jsonata({ Type: 'Map', Items: '{% [1, 2] %}', ItemProcessor: inner, End: true });
  for (const QueryLanguage of [undefined, 'JSONPath']) {
    const local = await serve(machine({ QueryLanguage, StartAt: 'All', States: { All: all } }));
    expect(await local.output()).toEqual([2, 4]);
  }
});
