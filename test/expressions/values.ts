/** The time at which each expression is evaluated. */
export const NOW = 3_999_999_900_000;

const iso = (time: number) => new Date(time).toISOString();
const LONG = `${'é中🙂'.repeat(1_000)}"\\\n`;
const DEEP = Array.from({ length: 30 }).reduce<unknown>((inner) => ({ a: [inner, 1] }), 'x');

const odd: readonly unknown[] = [
  ...['', 'text', '"quoted" \\ \n \t', 'é 中 🙂', '{% $x %}', 'true', '9007199254740993', LONG],
  // Not more than 15 digits: 2.0.6 rounds to them, others keep more.
  ...[0, -1, 0.1, 123456789012345, 1e21, 5e-324, true, false, null],
  ...[
    [],
    [1],
    ['a'],
    [[1, 2]],
    [[]],
    [null],
    {},
    { a: [] },
    { a: [1] },
    { a: [[1]] },
    { '': 1, 'a.b': { $x: 1 } },
    DEEP,
  ],
  ...[
    { constructor: 1, __proto__x: 2, toString: 'x', length: 3 },
    { keys: ['a'], type: 'object' },
  ],
];

const envelope = (more: object) => ({ mcpTask: 1, text: 'x', ...more });
const payloads: readonly unknown[] = [
  envelope({ text: '{"n":12345678901234567890}' }),
  ...odd,
  ...[{ isError: true }, { isError: 'yes' }, { isError: [true] }, [{ isError: true }], { content: [], isError: true }],
  ...[{}, null, { a: { method: 'roots/list' } }].map((inputRequests) => ({ inputRequests, requestState: 1 })),
  ...['', LONG, null, ['x'], 5].map((text) => envelope({ text })),
  ...[2, '1', [1], true].map((mcpTask) => envelope({ mcpTask })),
  ...[{ isError: true }, { asks: true }, { asks: 'true' }].map(envelope),
  ...[{}, [], null, { a: {} }, { a: { until: 4e12 } }, { a: { until: '5' }, b: { until: 3.5 } }].map((waits) =>
    envelope({ waits }),
  ),
];
const outputs = [
  ...['"text"', '{"id":9007199254740993,"pi":3.14159265358979323846}', '{"content":[],"isError":true}', 'null', '[]'],
  ...['{"inputRequests":{"a":{"method":"roots/list"}}}', '{"a":"\\"isError\\":true"}', '[{"isError":true}]', LONG],
  ...['no JSON: "isError"', 1, null, {}],
];
const names = ['OutOfStock', 'a secret', 'constructor', '', 'x'.repeat(129), 'line\nbreak', 'é', 5, null, ['A']];

const errors = ['Lambda.TooManyRequestsException', 'Runtime.ExitError', 'States.TaskFailed', 'TypeError'];
const causes = [
  ...[
    'Rate Exceeded. (Service: Lambda, Status Code: 429)',
    ' {"errorMessage":"x","trace":["at x"]}',
    '{"Error":"One"}',
  ],
  ...['{"Error":"One"} {"Error":"Two"}', `{"errorMessage":"${'x'.repeat(1_000)}`, '"Rate Exceeded."'],
];
const otherCauses = [
  ...['', 'The cause. Returned payload: {"trace":[]}', '{"stackTrace" : ["at x"]', '["Rate Exceeded."]', '5', LONG],
  ...['{"Input":"{\\"Error\\":\\"Fake\\"}"}', '{"Error":"a b"}', `{"Error":"${'x'.repeat(200)}"}`, null, undefined],
];
const failed = (name: unknown, cause?: unknown) => ({ Error: name, Cause: cause });

const at = { N: '1800000000000' };
const M = { at, startedAt: { N: '1799999999999.5' }, retries: { N: '2' } };
const change = (values: object) => ({ update: 'SET #a = :a', names: { '#a': 'a' }, values });
const completed = (S: unknown) =>
  change({ ':result': { S }, ':status': { S: 'completed' }, ':isError': { BOOL: false }, ':event': { L: [{ M }] } });
const asked = (more: object) => change({ ':asked': { S: 'q' }, ':status': { S: 'input_required' }, ...more });

const execution = {
  ...{ owner: 'o', taskId: 't', tool: 'x', round: 2, deadlineAt: NOW + 100_000, arguments: '{"n":1,"deep":[[],{}]}' },
  ...{ accepts: ['elicitation/create'], inputResponses: { a: { action: 'accept' } }, requestState: null },
};
const began = { Input: execution, Name: 't-r2', StartTime: iso(NOW - 1_000) };
const state = { Name: 'Run', RetryCount: 3, EnteredTime: iso(NOW - 900) };
const plain = { Execution: began, State: state, Map: { Item: { Index: 0, Value: 'eu-west-1' } } };
const withInput = (more: object) => ({ ...plain, Execution: { ...began, Input: { ...execution, ...more } } });
const startedAt = (StartTime: unknown) => ({ ...plain, Execution: { ...began, StartTime } });
const region = { region: 'eu-west-1', latencyMs: 20, freeSlots: 0 };

/**
 * Values of members of `$states`, by what an expression reads, the plainest value first: normal, missing, of another type,
 * long, nested, beyond ASCII, and on both sides of each bound.
 */
export const pools: readonly (readonly [reads: RegExp, values: readonly unknown[]])[] = [
  [
    /\$states\.(context)/,
    [
      plain,
      ...[
        { round: 1, caller: 'user é' },
        { round: 11, caller: 'x'.repeat(1_490) },
        { round: '2', traceparent: '00-0' },
      ],
      ...[
        { deadlineAt: NOW },
        { deadlineAt: NOW + 1 },
        { deadlineAt: NOW + 1_999, hookKey: 'k' },
        { deadlineAt: '4e12' },
      ],
      ...[{ tool: 'é', owner: '' }, { tool: 'constructor' }, { tool: 'y' }, { tool: null, keepArguments: false }],
      ...[{ arguments: JSON.stringify({ é: LONG }) }, { arguments: JSON.stringify(DEEP) }, { arguments: 'no JSON' }],
      ...[
        { signals: { a: [{ é: 1 }] }, inputResponses: [[1]], requestState: DEEP },
        { taskId: 'é🙂', accepts: null },
      ],
    ].map((value) => (value === plain ? value : withInput(value))),
  ],
  [
    /\$states\.(context)\.Execution\.StartTime/,
    [
      iso(NOW - 239_000),
      iso(NOW - 270_000),
      iso(NOW - 300_000),
      '2026-11-22T10:00:00+01:00',
      '2096-13-45T10:00:00Z',
      null,
    ]
      .map(startedAt)
      .concat([{ ...plain, Execution: { ...began, StartTime: undefined } }]),
  ],
  [
    /\$states\.(context)\.State/,
    [{ RetryCount: 0 }, { RetryCount: '1' }, { EnteredTime: iso(NOW + 9_000) }].map((State) => ({ ...plain, State })),
  ],
  [
    /\$states\.(context)\.Map/,
    ['us-east-1', 'é', '', LONG, 5, null].map((Value) => ({ ...plain, Map: { Item: { Index: 1, Value } } })),
  ],
  [/\$states\.(context)/, [{ Execution: { Input: {} } }, { Execution: {} }, null, [plain, plain]]],
  [
    /\$states\.(input)\.tries/,
    [
      {},
      { tries: 1 },
      { tries: 2_500, crashes: 1, losses: 5 },
      { tries: 2, crashes: 2, losses: 6 },
      { tries: '1' },
      null,
    ],
  ],
  [
    // Around the 1,500 bytes of a record, by letters of one to four bytes.
    /\$states\.(input)\.values/,
    [
      ...['{"n":1}', undefined, 5, ['x'], LONG].map(completed),
      ...['x', 'é', '中', '🙂', '\n'].flatMap((letter) =>
        [375, 376, 500, 501, 750, 751, 1_500, 1_501].map((length) => completed(letter.repeat(length))),
      ),
      ...['{"a":{"until":1}}', 'no JSON', 5].map((S) => asked({ ':waits': { S }, ':arguments': { S: '{"é":1}' } })),
      ...[[], [{ M: { at } }], [{ M: { ...M, startedAt: { N: 'x' } } }]].map((L) => asked({ ':event': { L } })),
    ],
  ],
  [
    /\$states\.(input)(?!\.(tries|values|crashes|losses))/,
    [
      { ...completed('"x"'), tries: 1, wait: 3, seed: 5, cut: true, arguments: { regions: ['é', 'us-east-1'] } },
      [region],
      [region, { ...region, freeSlots: 1 }, { region: 'é', latencyMs: 5, freeSlots: 9 }],
      ...[0, 180, 9_007_199_254_740_991, -1, 1.5, '5', null].map((seed) => ({ seed, wait: seed, arguments: seed })),
      ...['', LONG, null, [], {}, [[1]], DEEP],
    ],
  ],
  [
    /\$states\.(result)\.Payload/,
    [...payloads.map((Payload) => ({ Payload, StatusCode: 200 })), { StatusCode: 200 }, null],
  ],
  [
    /\$states\.(result)\.Status/,
    [
      ...outputs.map((Output) => ({ Status: 'SUCCEEDED', Output })),
      ...names.map((name) => ({ Status: 'FAILED', Error: name })),
      ...[{ Status: 'ABORTED' }, { Status: 'SUCCEEDED' }, {}],
    ],
  ],
  [
    /\$states\.(result)\)/,
    [[{ latencyMs: 1 }, { freeSlots: 2 }], [{ latencyMs: 1 }], [null], [[]], { latencyMs: 1 }, null],
  ],
  [
    /\$states\.(errorOutput)/,
    [
      ...errors.flatMap((name) => causes.map((cause) => failed(name, cause))),
      ...otherCauses.map((cause) => failed('States.TaskFailed', cause)),
      ...[...names, 'States.Timeout', 'States.QueryEvaluationError', 'Lambda.SdkClientException'].map((name) =>
        failed(name),
      ),
      ...[{}, { Cause: 'x' }, [failed('A', 'x'), failed('B', 'y')]],
    ],
  ],
];
