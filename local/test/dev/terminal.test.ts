import { expect, test } from 'vitest';
import { terminal } from '../../dev/terminal.ts';

function printing(verbose = false) {
  const printed: string[] = [];
  const write = (text: string) => void printed.push(text);
  const now = () => new Date(2026, 10, 22, 10, 2, 11);
  return { printed, ...terminal({ verbose, write, now, nameOf: (name) => name.replace('Shop-', '') }) };
}
const taskId = '01m819jg4m4ejvwse436ma2qjmhj7g3ad36y';
const audit = (action: string, facts: object = {}) =>
  JSON.stringify({ event: 'audit', action, taskId, tool: 'greet', ...facts });

test.each([
  [audit('created'), '  greet …hj7g3ad36y started'],
  [audit('input_asked', { round: 2 }), '  greet …hj7g3ad36y asks its client (round 2)'],
  [audit('input_answered'), '  greet …hj7g3ad36y is answered'],
  [audit('cancelled'), '  greet …hj7g3ad36y is cancelled'],
  [audit('finished', { status: 'completed' }), '✓ greet …hj7g3ad36y completed'],
  [audit('finished', { status: 'completed', isError: true }), '✗ greet …hj7g3ad36y returned an error'],
  [audit('finished', { status: 'failed', reason: 'TypeError' }), '✗ greet …hj7g3ad36y failed: TypeError'],
  [audit('denied', { reason: 'not_found' }), '✗ refused …hj7g3ad36y: not_found'],
  [
    audit('finished', { status: 'failed', reason: 'InputRequestInvalid' }),
    "✗ greet …hj7g3ad36y failed: InputRequestInvalid (a question is { method: 'elicitation/create', params: { message, requestedSchema } } with flat fields: use elicitForm)",
  ],
  [
    '{"event":"result_misfit","tool":"greet","problems":["/n must be number"]}',
    '✗ greet: its structuredContent does not fit its outputSchema: /n must be number',
  ],
  [
    `{"event":"answer_ignored","tool":"greet","taskId":"${taskId}","openKeys":["r1.a"]}`,
    '✗ greet …hj7g3ad36y: an answer came under a key that is not open (open: r1.a)',
  ],
  ['a line of the tool', 'Greet │ a line of the tool'],
  ['{"event":"unexpected_error","where":"watch"}', 'Greet │ {"event":"unexpected_error","where":"watch"}'],
  ['{"event": no JSON', 'Greet │ {"event": no JSON'],
])('one line in words: %.40s', (line, words) => {
  const { log, printed } = printing();
  log('Shop-Greet', line);
  expect(printed).toEqual([`10:02:11  ${words}\n`]);
});

test('reads of a client and lines for CloudWatch are not printed', () => {
  const { log, printed } = printing();
  log('Shop-Greet', audit('retrieved'));
  log('Shop-Greet', '{"_aws":{}}');
  expect(printed).toEqual([]);
});

test("an error of a tool is printed with lines of the tool's files only", () => {
  const { log, printed } = printing();
  const trace = [
    'TypeError: no',
    '    at greet (/app/greet.ts:3:9)',
    '    at node:internal/x:1:1',
    '    at /app/node_modules/y:1:1',
  ];
  log('Shop-Greet', `Invoke Error ${JSON.stringify({ errorType: 'TypeError', errorMessage: 'no', trace })}`);
  expect(printed).toEqual(['10:02:11  Greet │ ✗ TypeError: no\n    at greet (/app/greet.ts:3:9)\n']);
});

const said = (message: unknown, level = 'INFO') =>
  JSON.stringify({ timestamp: '2026-11-22T09:02:11.000Z', level, requestId: 'r', message });
const ids = { tool: 'greet', taskId, round: 1, attempt: 0 };

test.each([
  [said({ ...ids, message: 'hello' }), 'Greet │ …hj7g3ad36y hello'],
  [said({ ...ids, attempt: 2, message: { n: 1 } }), 'Greet │ …hj7g3ad36y (attempt 2) {"n":1}'],
  [said({ ...ids, message: 'no' }, 'ERROR'), 'Greet │ ✗ …hj7g3ad36y no'],
  [said({ tool: 'greet', message: 'direct' }), 'Greet │ direct'],
  [said('no defineTool'), 'Greet │ no defineTool'],
  [
    said({ ...ids, message: { errorType: 'TypeError', errorMessage: 'no', stackTrace: ['    at /app/a.ts:1:2'] } }),
    'Greet │ …hj7g3ad36y TypeError: no\n    at /app/a.ts:1:2',
  ],
  ['{"timestamp":1,"msg":"another logger"}', 'Greet │ {"timestamp":1,"msg":"another logger"}'],
  ['{"timestamp": no JSON', 'Greet │ {"timestamp": no JSON'],
  ['Invoke Error {no JSON}', 'Greet │ Invoke Error {no JSON}'],
])('a line of the log format JSON in words: %.90s', (line, words) => {
  const { log, printed } = printing();
  log('Shop-Greet', line);
  expect(printed).toEqual([`10:02:11  ${words}\n`]);
});

test.each([
  ['Runtime.ExitError', 'its process ended: out of memory, or an exit by the tool'],
  [
    'Sandbox.Timedout',
    "it did not end within its function's timeout: raise the timeout of your ToolFunction, unless the machine is overloaded",
  ],
])('%s says what to check', (errorType, advice) => {
  const { log, printed } = printing();
  log('Shop-Greet', `Invoke Error ${JSON.stringify({ errorType, errorMessage: 'm' })}`);
  expect(printed).toEqual([`10:02:11  Greet │ ✗ ${errorType}: m (${advice})\n`]);
});

test('an error of a tool names its task and attempt', () => {
  const { log, printed } = printing();
  const error = { errorType: 'TypeError', errorMessage: 'no', trace: [] };
  log('Shop-Greet', `Invoke Error ${JSON.stringify({ ...ids, attempt: 1, ...error })}`);
  expect(printed).toEqual(['10:02:11  Greet │ ✗ …hj7g3ad36y (attempt 1) TypeError: no\n']);
});

const UNSEEN = '\u001b]52;c;Y3Vyb\u0007\u001b[2J\u009b2J\r\u202e\u2066\u200b\u2028\ufeff\u{e0041}\u2800\u{1d159}';

test.each([
  ['what a tool logs', said({ ...ids, message: `a${UNSEEN}b` })],
  ['plain output', `a${UNSEEN}b`],
  ['an event of the server', JSON.stringify({ event: 'result_misfit', tool: 'greet', problems: [`a${UNSEEN}b`] })],
  [
    'a thrown error',
    `Invoke Error ${JSON.stringify({ errorType: 'E', errorMessage: `a${UNSEEN}b`, trace: [`    at a${UNSEEN}b`] })}`,
  ],
])('no invisible character reaches the terminal: %s', (_what, line) => {
  for (const verbose of [false, true]) {
    const { log, printed } = printing(verbose);
    log('Shop-Greet', line);
    expect(printed.join('')).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u{1d159}]/u);
    expect(printed.join('')).toMatch(verbose ? /a.*b/ : /a\]52;c;Y3Vyb\[2J2Jb/);
  }
});

test('colours of a tool are left out', () => {
  const { log, printed } = printing();
  log('Shop-Greet', said({ ...ids, message: '\u001b[1;31mred\u001b[39m' }));
  expect(printed).toEqual(['10:02:11  Greet │ …hj7g3ad36y red\n']);
});

const FORGED = '10:02:12  ✓ pay …hj7g3ad36y completed';

test.each([
  ['a log line', said({ ...ids, message: `x\n${FORGED}` }), `…hj7g3ad36y x\n    │ ${FORGED}`],
  [
    'an error',
    `Invoke Error ${JSON.stringify({ errorType: 'E', errorMessage: `x\n${FORGED}`, trace: [`    at a\n${FORGED}`] })}`,
    `✗ E: x\n    │ ${FORGED}\n    at a ${FORGED}`,
  ],
])('%s of several lines cannot pass for a line of dev', (_what, line, words) => {
  const { log, printed } = printing();
  log('Shop-Greet', line);
  expect(printed).toEqual([`10:02:11  Greet │ ${words}\n`]);
});

test('a value in an event of the server is one line', () => {
  const { log, printed } = printing();
  log('Shop-Endpoint', JSON.stringify({ event: 'result_misfit', tool: 'greet', problems: [`x\r\n  ${FORGED}`] }));
  expect(printed).toEqual([`10:02:11  ✗ greet: its structuredContent does not fit its outputSchema: x ${FORGED}\n`]);
});

test('--verbose prints every line unchanged', () => {
  const { log, printed } = printing(true);
  log('Shop-Greet', audit('retrieved'));
  expect(printed).toEqual([`10:02:11  Shop-Greet: ${audit('retrieved')}\n`]);
});
