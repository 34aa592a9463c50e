import { include } from '../../lib/workflow/definition.ts';

/** One evaluation of an expression of `lib/workflow`. */
export interface Case {
  readonly title: string;
  /** The expression as the definition holds it, with CloudFormation's substitutions made. */
  readonly text: string;
  /** The value of `$states`. */
  readonly states: unknown;
}

const input = {
  ...{ owner: 'o', taskId: 't', tool: 'x', round: 2, deadlineAt: 4_000_000_000_000 },
  ...{ arguments: '{"n":1,"deep":[[],{}]}', accepts: ['elicitation/create'] },
  ...{ inputResponses: { a: { action: 'accept' } }, requestState: null },
};
const context = {
  Execution: { Input: input, Name: 't-r2', StartTime: '2026-11-22T10:00:00.123Z' },
  State: { Name: 'Run', RetryCount: 3 },
};

function textOf(file: string): string {
  const substitutions: Readonly<Record<string, string>> = {
    RepeatableTools: "['x']",
    TableName: 'tasks',
    ResultsBucket: 'results',
  };
  const text = include(`<${file}>`).replace(/\$\{(\w+)\}/g, (_, name: string) => substitutions[name] ?? '?');
  // Engines bind it to the time of their evaluation, and draw their own numbers.
  return text.replaceAll('$millis()', '3999999900000').replaceAll('$random()', '0.7');
}

const caseOf = (file: string, title: string, states: object): Case => ({
  title: `${file}: ${title}`,
  text: textOf(file),
  states: { context, ...states },
});

const values: readonly unknown[] = [
  ...['', 'text', '"quoted" \\ \n \t', 'é 中 🙂', '{% $x %}', 'true', '9007199254740993'],
  // Not more than 15 digits: 2.0.6 rounds to them, others keep more.
  ...[0, -1, 0.1, 123456789012345, 1e21, 5e-324, true, false, null],
  ...[[], [1], ['a'], [[1, 2]], [[]], [null], {}, { a: [] }, { a: [1] }, { a: [[1]] }, { '': 1, 'a.b': { $x: 1 } }],
  ...[{ isError: true }, { isError: 'yes' }, { isError: [true] }, [{ isError: true }], { content: [], isError: true }],
  ...[
    { constructor: 1, __proto__x: 2, toString: 'x', length: 3 },
    { keys: ['a'], type: 'object' },
  ],
  ...[
    { inputRequests: {} },
    { inputRequests: null },
    { inputRequests: { a: { method: 'roots/list' } }, requestState: 1 },
  ],
  ...[
    { mcpTask: 1, text: '{"n":12345678901234567890}' },
    { mcpTask: 1, text: '' },
    { mcpTask: 2, text: 'x' },
  ],
  ...[
    { mcpTask: 1, text: 'x', isError: true },
    { mcpTask: 1, text: 'x', asks: true },
    { mcpTask: [1], text: 'x' },
  ],
];
const outputs = [
  ...['"text"', '{"id":9007199254740993,"pi":3.14159265358979323846}', '{"content":[],"isError":true}', 'null', '[]'],
  ...['{"inputRequests":{"a":{"method":"roots/list"}}}', '{"a":"\\"isError\\":true"}', '[{"isError":true}]'],
];
const causes = [
  ...['', 'no JSON', '{"Error":"A.b-c_1","Cause":"secret"}', '{"Cause":"x","Error" : "Late"}', '{"Error":"a b"}'],
  ...['{"Input":"{\\"Error\\":\\"Fake\\"}"}', '{"Error":"One"} {"Error":"Two"}', `{"Error":"${'x'.repeat(200)}"}`],
];
const names = ['OutOfStock', 'a secret', 'States.Timeout', '', 'x'.repeat(129), 'line\nbreak'];
const errors = [
  'TypeError',
  'States.Timeout',
  'States.QueryEvaluationError',
  'constructor',
  'Lambda.TooManyRequestsException',
  'Lambda.SdkClientException',
  'Runtime.ExitError',
];
const reports = [
  ...['', 'Rate Exceeded. (Service: Lambda, Status Code: 429)', 'The cause. Returned payload: {"trace":[]}'],
  ...['{"errorMessage":"secret"}', ' {"errorMessage":"secret","trace":["at x"]}', '{"stackTrace" : ["at x"]'],
  ...['["Rate Exceeded."]', '"Rate Exceeded."', 'true', '5', `{"errorMessage":"${'x'.repeat(1_000)}`],
];

/** Every expression of the project that decides something, over the values that engines are known to treat apart. */
export const cases: readonly Case[] = [
  ...values.map((value) =>
    caseOf('function-finished.jsonata', JSON.stringify(value), { result: { Payload: value, StatusCode: 200 } }),
  ),
  caseOf('function-finished.jsonata', 'no payload', { result: { StatusCode: 200 } }),
  ...outputs.map((Output) => caseOf('machine/finished.jsonata', Output, { result: { Status: 'SUCCEEDED', Output } })),
  ...names.map((name) =>
    caseOf('machine/finished.jsonata', `failed with ${name}`, { result: { Status: 'FAILED', Error: name } }),
  ),
  caseOf('machine/finished.jsonata', 'aborted', { result: { Status: 'ABORTED' } }),
  ...causes.map((Cause) =>
    caseOf('machine/failed.jsonata', Cause, { errorOutput: { Error: 'States.TaskFailed', Cause } }),
  ),
  ...errors.map((error) =>
    caseOf('run-failed.jsonata', error, { errorOutput: { Error: error, Cause: '{"errorMessage":"secret"}' } }),
  ),
  ...errors.flatMap((error) =>
    reports.flatMap((Cause) =>
      [{}, { tries: 200, crashes: 1, losses: 5, wait: 0 }].map((tried) =>
        caseOf('retry/run-again.jsonata', `${error}, ${Cause}`, { input: tried, errorOutput: { Error: error, Cause } }),
      ),
    ),
  ),
  ...errors.map((error) =>
    caseOf('retry/run-again.jsonata', `${error}, no cause`, { input: {}, errorOutput: { Error: error } }),
  ),
  caseOf('function-event.jsonata', 'the event', {}),
  caseOf('machine/event.jsonata', 'the event', {}),
  caseOf('run-timeout.jsonata', 'before the deadline', {}),
];
