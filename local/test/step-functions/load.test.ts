import { describe, expect, it } from 'vitest';
import { createStepFunctions, DefinitionError, type StateMachineSpec } from '../../step-functions/index.ts';
import { machine, machineArn, RESOURCE, single, task } from './support.ts';

function load(spec: StateMachineSpec): string {
  try {
    createStepFunctions([spec], { integrations: { [RESOURCE]: async () => ({}) } });
    return 'loaded';
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DefinitionError);
    return (thrown as Error).message;
  }
}

const Pass = { Type: 'Pass', End: true };
const flow = (name: string, state: object = Pass) => ({ StartAt: name, States: { [name]: state } });
const inState = (field: string) => `state machine 'm', state 'S', field '${field}'`;
const retry = (retrier: object) => task({ Retry: [{ ErrorEquals: ['E'], ...retrier }] });
const catcher = (fields: object) => task({ Catch: [{ ErrorEquals: ['E'], Next: 'Caught', ...fields }] });
const choice = (rule: object, more: object = {}) =>
  machine({
    StartAt: 'S',
    States: { S: { Type: 'Choice', Choices: [{ Condition: true, Next: 'T', ...rule }], ...more }, T: Pass },
  });
const map = (fields: object) => single({ Type: 'Map', ItemProcessor: flow('In'), ...fields });

const refused: [what: string, spec: StateMachineSpec, where: string, why: string][] = [
  ['JSONPath by default', machine({ QueryLanguage: undefined, ...flow('S') }), "field 'QueryLanguage'", 'JSONata'],
  ['JSONPath by name', machine({ QueryLanguage: 'JSONPath', ...flow('S') }), "field 'QueryLanguage'", 'JSONata'],
  ['an unknown top-level field', machine({ ...flow('S'), Tags: [] }), "field 'Tags'", 'not known'],
  ['an unknown version', machine({ ...flow('S'), Version: '2.0' }), "field 'Version'", "'1.0'"],
  [
    'a computed top-level timeout',
    machine({ ...flow('S'), TimeoutSeconds: '{% 1 %}' }),
    "field 'TimeoutSeconds'",
    'integer',
  ],
  ['a missing StartAt', machine({ States: { S: Pass } }), "field 'StartAt'", 'string'],
  ['a StartAt that leads nowhere', machine({ StartAt: 'X', States: { S: Pass } }), "field 'StartAt'", "no state 'X'"],
  ['no States', machine({ StartAt: 'S' }), "field 'States'", 'object'],
  ['a state that is not an object', machine({ StartAt: 'S', States: { S: 1 } }), "state 'S'", 'object'],
  ['an unknown state type', single({ Type: 'Loop' }), inState('Type'), "'Loop'"],
  ['a state in JSONPath', single({ Type: 'Pass', QueryLanguage: 'JSONPath' }), inState('QueryLanguage'), 'JSONata'],
  ['an unknown state', machine(flow('S', { Type: 'Pass', Next: 'X' })), "state 'S'", "no state 'X'"],
  ['an unreachable state', machine({ StartAt: 'S', States: { S: Pass, T: Pass } }), "state 'T'", 'not reachable'],
  ['neither Next nor End', machine(flow('S', { Type: 'Pass' })), inState('Next'), 'string'],
  ['Next beside End', machine(flow('S', { ...Pass, Next: 'S' })), inState('End'), 'Next'],
  ['End: false', machine(flow('S', { Type: 'Pass', End: false })), inState('End'), 'true'],
  ['the same name in an inner flow', single({ Type: 'Parallel', Branches: [flow('S')] }), "state 'S'", 'twice'],
  ['a name over 80 characters', machine(flow('x'.repeat(81))), "state 'xxx", '80'],

  ['a JSONPath field', single({ Type: 'Pass', Result: {} }), inState('Result'), 'not known'],
  ['InputPath', single({ Type: 'Pass', InputPath: '$' }), inState('InputPath'), 'not known'],
  ['HeartbeatSeconds', task({ HeartbeatSeconds: 1 }), inState('HeartbeatSeconds'), 'not known'],
  ['Credentials', task({ Credentials: {} }), inState('Credentials'), 'not known'],
  ['Assign on Succeed', machine(flow('S', { Type: 'Succeed', Assign: {} })), inState('Assign'), 'not known'],
  ['Next on Fail', machine(flow('S', { Type: 'Fail', Next: 'S' })), inState('Next'), 'not known'],
  ['Retry on Pass', single({ Type: 'Pass', Retry: [] }), inState('Retry'), 'not known'],
  [
    'an unregistered Resource',
    task({ Resource: `${RESOURCE}.waitForTaskToken` }),
    inState('Resource'),
    'waitForTaskToken',
  ],
  ['TimeoutSeconds 0', task({ TimeoutSeconds: 0 }), inState('TimeoutSeconds'), 'integer from 1'],
  ['TimeoutSeconds as text', task({ TimeoutSeconds: '1' }), inState('TimeoutSeconds'), 'JSONata expression'],

  ['an unknown retrier field', retry({ Delay: 1 }), inState('Retry[0]/Delay'), 'not known'],
  ['a retrier without errors', retry({ ErrorEquals: [] }), inState('Retry[0]/ErrorEquals'), 'error names'],
  ['an unknown States error', retry({ ErrorEquals: ['States.All'] }), inState('Retry[0]/ErrorEquals'), 'States.All'],
  ['States.ALL in company', retry({ ErrorEquals: ['E', 'States.ALL'] }), inState('Retry[0]/ErrorEquals'), 'alone'],
  ['BackoffRate below 1', retry({ BackoffRate: 0.5 }), inState('Retry[0]/BackoffRate'), 'number'],
  ['IntervalSeconds 0', retry({ IntervalSeconds: 0 }), inState('Retry[0]/IntervalSeconds'), 'integer'],
  ['MaxAttempts -1', retry({ MaxAttempts: -1 }), inState('Retry[0]/MaxAttempts'), 'integer'],
  ['MaxDelaySeconds 0', retry({ MaxDelaySeconds: 0 }), inState('Retry[0]/MaxDelaySeconds'), 'integer'],
  ['an unknown jitter', retry({ JitterStrategy: 'SOME' }), inState('Retry[0]/JitterStrategy'), 'FULL'],
  ['an unknown catcher field', catcher({ ResultPath: '$' }), inState('Catch[0]/ResultPath'), 'not known'],
  ['a catcher without Next', task({ Catch: [{ ErrorEquals: ['E'] }] }), inState('Catch[0]/Next'), 'string'],
  [
    'States.ALL before another catcher',
    task({ Catch: ['States.ALL', 'E'].map((name) => ({ ErrorEquals: [name], Next: 'Caught' })) }),
    inState('Catch[0]/ErrorEquals'),
    'last',
  ],

  ['a JSONPath rule', choice({ Variable: '$.x' }), inState('Choices[0]/Variable'), 'not known'],
  ['a Condition that is literal text', choice({ Condition: 'yes' }), inState('Choices[0]/Condition'), 'expression'],
  [
    'no rules',
    machine({ StartAt: 'S', States: { S: { Type: 'Choice', Choices: [], Default: 'T' }, T: Pass } }),
    inState('Choices'),
    'one',
  ],
  ['Next on Choice', choice({}, { Next: 'T' }), inState('Next'), 'not known'],
  ['Wait without a time', single({ Type: 'Wait' }), "state 'S'", 'either'],
  ['Wait with two times', single({ Type: 'Wait', Seconds: 1, Timestamp: 'x' }), "state 'S'", 'either'],
  [
    'Wait with SecondsPath',
    single({ Type: 'Wait', Seconds: 1, SecondsPath: '$' }),
    inState('SecondsPath'),
    'not known',
  ],
  ['an invalid Timestamp', single({ Type: 'Wait', Timestamp: '2030-01-01' }), inState('Timestamp'), 'RFC 3339'],
  ['no branches', single({ Type: 'Parallel', Branches: [] }), inState('Branches'), 'one'],
  [
    'an unknown branch field',
    single({ Type: 'Parallel', Branches: [{ ...flow('A'), Next: 'S' }] }),
    inState('Branches[0]/Next'),
    'not known',
  ],
  [
    'a distributed Map',
    map({ ItemProcessor: { ...flow('In'), ProcessorConfig: { Mode: 'DISTRIBUTED' } } }),
    inState('ItemProcessor/ProcessorConfig'),
    'INLINE',
  ],
  ['Iterator', map({ Iterator: flow('It') }), inState('Iterator'), 'not known'],
  ['ToleratedFailureCount', map({ ToleratedFailureCount: 1 }), inState('ToleratedFailureCount'), 'not known'],
  ['Items that is an object', map({ Items: {} }), inState('Items'), 'array'],
  [
    'an unknown field deep inside',
    map({ ItemProcessor: flow('In', { ...Pass, Parameters: {} }) }),
    "state 'In', field 'Parameters'",
    'not known',
  ],

  [
    'JSONata that does not parse',
    single({ Type: 'Pass', Output: { a: '{% $states. %}' } }),
    inState('Output/a'),
    'not JSONata: S0',
  ],
  [
    'JSONata newer than 2.0.6',
    single({ Type: 'Pass', Output: '{% $states.input.a ?: 1 %}' }),
    inState('Output'),
    'not JSONata',
  ],
  ['an expression left open', single({ Type: 'Pass', Output: '{% 1' }), inState('Output'), 'closed'],
  ['$eval', single({ Type: 'Pass', Output: "{% $eval('1') %}" }), inState('Output'), '$eval'],
  ['a function that does not exist', single({ Type: 'Pass', Output: '{% $nope(1) %}' }), inState('Output'), '$nope'],
  [
    'a variable that is never assigned',
    task({ Arguments: { list: ['{% $nope %}'] } }),
    inState('Arguments/list[0]'),
    '$nope',
  ],
  [
    'a variable of an inner flow',
    map({ ItemProcessor: flow('In', { ...Pass, Assign: { x: 1 } }), Output: '{% $x %}' }),
    inState('Output'),
    '$x',
  ],
  [
    'an outer variable assigned inside',
    map({ Assign: { x: 1 }, ItemProcessor: flow('In', { ...Pass, Assign: { x: 1 } }) }),
    inState('ItemProcessor'),
    "'x'",
  ],
  [
    'an unknown member of $states',
    single({ Type: 'Pass', Output: '{% $states.output %}' }),
    inState('Output'),
    '$states.output',
  ],
  ['$states.result in Arguments', task({ Arguments: '{% $states.result %}' }), inState('Arguments'), '$states.result'],
  [
    '$states.result in a Catch',
    catcher({ Output: '{% $states.result %}' }),
    inState('Catch[0]/Output'),
    '$states.result',
  ],
  [
    '$states.errorOutput in Output',
    task({ Output: '{% $states.errorOutput %}' }),
    inState('Output'),
    '$states.errorOutput',
  ],
  ['Assign that is not an object', single({ Type: 'Pass', Assign: '{% {} %}' }), inState('Assign'), 'object'],
  ['a variable called states', single({ Type: 'Pass', Assign: { states: 1 } }), inState('Assign'), "'states'"],
  ['a variable that is not an identifier', single({ Type: 'Pass', Assign: { 'a-b': 1 } }), inState('Assign'), "'a-b'"],

  ['a definition that is not JSON', { ...single(Pass), definition: '{' }, "state machine 'm'", 'not JSON'],
  ['an invalid ARN', { ...single(Pass), arn: 'm' }, "state machine 'm'", 'ARN'],
];

describe('a definition is refused by name', () => {
  it.each(refused)('%s', (_, spec, where, why) => {
    const message = load(spec);
    expect(message).toContain("state machine 'm'");
    expect(message).toContain(where);
    expect(message).toContain(why);
  });
});

it('loads every field this engine knows', () => {
  const Retry = [
    {
      Comment: '',
      ErrorEquals: ['E'],
      IntervalSeconds: 1,
      BackoffRate: 1.5,
      MaxAttempts: 0,
      MaxDelaySeconds: 9,
      JitterStrategy: 'NONE',
    },
    { ErrorEquals: ['States.ALL'] },
  ];
  const Catch = [
    { Comment: '', ErrorEquals: ['States.ALL'], Output: '{% $states.errorOutput %}', Assign: { e: 1 }, Next: 'Fail' },
  ];
  const common = { Comment: '', QueryLanguage: 'JSONata', Output: {}, Assign: { a: '{% $states.input %}' } };
  const result = { ...common, Retry, Catch, Output: '{% $states.result %}' };
  const States = {
    Task: { ...result, Type: 'Task', Resource: RESOURCE, Arguments: {}, TimeoutSeconds: '{% 9 %}', Next: 'Parallel' },
    Parallel: {
      ...result,
      Type: 'Parallel',
      Arguments: {},
      Branches: [{ Comment: '', ...flow('Branch') }],
      Next: 'Map',
    },
    Map: {
      ...result,
      Type: 'Map',
      Items: [],
      ItemSelector: {},
      MaxConcurrency: 2,
      ItemProcessor: { ProcessorConfig: { Mode: 'INLINE' }, ...flow('Item') },
      Next: 'Wait',
    },
    Wait: { ...common, Type: 'Wait', Seconds: 0, Next: 'Until' },
    Until: { ...common, Type: 'Wait', Timestamp: '2020-01-01T00:00:00.5+01:00', Next: 'Choice' },
    Choice: {
      ...common,
      Type: 'Choice',
      Choices: [{ Comment: '', Condition: '{% $e = 1 %}', Next: 'Pass', Output: {}, Assign: { c: 1 } }],
      Default: 'Pass',
    },
    Pass: { ...common, Type: 'Pass', Next: 'Succeed' },
    Succeed: { Comment: '', QueryLanguage: 'JSONata', Type: 'Succeed', Output: {} },
    Fail: { Comment: '', QueryLanguage: 'JSONata', Type: 'Fail', Error: 'E', Cause: '{% $string($e) %}' },
  };
  expect(load(machine({ Comment: '', Version: '1.0', TimeoutSeconds: 9, StartAt: 'Task', States }))).toBe('loaded');
});

it('refuses a timeScale that is not above 0', () => {
  expect(() => createStepFunctions([], { integrations: {}, timeScale: 0 })).toThrow(RangeError);
});

it('refuses two machines with one ARN', () => {
  expect(() => createStepFunctions([single(Pass), single(Pass)], { integrations: {} })).toThrow('another machine');
});

it('names the machine that is refused among several', () => {
  const bad = { ...single({ Type: 'Nope' }), name: 'second', arn: machineArn('second') };
  expect(() => createStepFunctions([single(Pass), bad], { integrations: {} })).toThrow(
    "state machine 'second', state 'S'",
  );
});
