import { Duration } from 'aws-cdk-lib';

interface Machine {
  readonly definition: object;
  readonly timeout?: Duration;
  readonly taskSupport?: 'optional' | 'required';
}

const pass = (output: unknown) => ({
  StartAt: 'Answer',
  States: { Answer: { Type: 'Pass', Output: output, End: true } },
});
const wait = (seconds: number, next?: string) => ({
  Type: 'Wait',
  Seconds: seconds,
  ...(next === undefined ? { End: true } : { Next: next }),
});
const fail = (error: string) => ({
  StartAt: 'Give up',
  States: { 'Give up': { Type: 'Fail', Error: error, Cause: 'planted-secret "Error":"Hidden" of arn:aws:x' } },
});
const question = {
  method: 'elicitation/create',
  params: {
    message: 'Really?',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  },
};

/** Small state machines for tests: what each does is in its name. */
export const machines: Readonly<Record<string, Machine>> = {
  echo: { definition: pass('{% $states.input.arguments %}') },
  returns: { definition: pass('{% $parse($states.input.arguments.json) %}') },
  event: { definition: pass('{% { "event": $states.input } %}') },
  error_result: { definition: pass({ content: [{ type: 'text', text: 'no such order' }], isError: true }) },
  bad_question: { definition: pass({ inputRequests: { a: 5 } }) },
  big: { definition: pass("{% $pad('', $states.input.arguments.length, 'x') %}") },
  fails: { definition: fail('OutOfStock') },
  fails_oddly: { definition: fail('out of "stock" {}') },
  three_steps: {
    definition: {
      StartAt: 'Gather',
      States: { Gather: wait(3, 'Think it over'), 'Think it over': wait(3, 'Write'), Write: wait(3) },
    },
  },
  one_by_one: {
    definition: {
      StartAt: 'All',
      States: {
        All: {
          Type: 'Map',
          Items: '{% [1, 2, 3] %}',
          MaxConcurrency: 1,
          ItemProcessor: { StartAt: 'Report on one', States: { 'Report on one': wait(3) } },
          End: true,
        },
      },
    },
  },
  endless: { definition: { StartAt: 'Wait for ever', States: { 'Wait for ever': wait(10_000_000) } } },
  all_day: {
    definition: { StartAt: 'Wait for ever', States: { 'Wait for ever': wait(10_000_000) } },
    timeout: Duration.hours(20),
  },
  brief: {
    definition: { StartAt: 'Wait for ever', States: { 'Wait for ever': wait(10_000) } },
    timeout: Duration.seconds(1),
  },
  times_out: { definition: { TimeoutSeconds: 1, StartAt: 'Wait for ever', States: { 'Wait for ever': wait(10_000) } } },
  asks: {
    taskSupport: 'required',
    definition: {
      StartAt: 'Answered?',
      States: {
        'Answered?': {
          Type: 'Choice',
          Choices: [{ Condition: '{% $exists($states.input.inputResponses.confirm) %}', Next: 'Go on' }],
          Default: 'Ask',
        },
        Ask: {
          Type: 'Pass',
          Output: { inputRequests: { confirm: question }, requestState: { n: 9007199254740991 } },
          End: true,
        },
        'Go on': {
          Type: 'Pass',
          Output: {
            answer: '{% $states.input.inputResponses.confirm %}',
            requestState: '{% $states.input.requestState %}',
            round: '{% $states.input.task.round %}',
          },
          End: true,
        },
      },
    },
  },
};
