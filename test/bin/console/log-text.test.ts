import { expect, test } from 'vitest';
import { logText } from '../../../bin/console/log-text.ts';

const said = (line: string | object) => {
  const { text, bad } = logText({ at: 1, source: 'x', line: typeof line === 'string' ? line : JSON.stringify(line) });
  return bad ? `✗ ${text}` : text;
};

test('an event of the server is its name and the facts that the task does not show', () => {
  const audit = { event: 'audit', action: 'finished', taskId: 't', tool: 'x', status: 'failed', round: 2, answers: 1 };
  expect(said(audit)).toBe('finished, status failed, answers 1');
  expect(said({ event: 'result_misfit', tool: 'x', problems: ['/n: must be number'] })).toBe(
    '✗ result_misfit, problems ["/n: must be number"]',
  );
});

test('a line of a tool is its text, with the stack of an error that it logs', () => {
  const line = (message: unknown, level = 'INFO') => ({ timestamp: 't', level, requestId: 'r', message });
  expect(said(line('half\ndone'))).toBe('half\ndone');
  expect(said(line({ tool: 'x', taskId: 't', message: 'two' }))).toBe('two');
  expect(said(line({ n: 1 }))).toBe('{"n":1}');
  expect(said(line({ message: 'own' }))).toBe('{"message":"own"}');
  expect(said(line(7))).toBe('7');
  expect(said(line('out of memory', 'FATAL'))).toBe('✗ out of memory');
  const error = { errorType: 'E', errorMessage: 'no', stackTrace: ['E: no', '    at own.ts:1'] };
  expect(said(line(error, 'ERROR'))).toBe('✗ E: no\n    at own.ts:1');
  expect(said(line({ tool: 'x', message: error }, 'ERROR'))).toBe('✗ E: no\n    at own.ts:1');
});

test('an error of a function is a line without its stack, which the page shows apart', () => {
  const thrown = { taskId: 't', errorType: 'TypeError', errorMessage: 'no', trace: ['TypeError: no', '    at x'] };
  expect(said(`Invoke Error ${JSON.stringify(thrown)}`)).toBe('✗ TypeError: no');
});

test('any other line does not change', () => {
  const lines = ['plain', '{"half":', '[1]', '{"level":"INFO"}', '{"message":"x"}', 'Invoke Error {', 'null'];
  // In the last one an object begins at the same place as after 'Invoke Error '.
  for (const line of [...lines, 'a plain text {"n":1}']) expect(said(line)).toBe(line);
});
