import { expect, test } from 'vitest';
import { callResult, terminalResult } from '../../../../functions/mcp/wire/terminal-result.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';

const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const ended = (more: Partial<TaskRecord>) => ({ ...create({ owner: 'o', taskId: 't' }, task, 0), ...more });
const failed = (error?: object) => ended({ status: 'failed', ...(error && { error: JSON.stringify(error) }) });
const thrownBy = (run: () => unknown) => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

test.each([terminalResult, callResult])('a task that is over answers as its call would have (C-16): %o', (result) => {
  expect(result(ended({ status: 'completed', result: '{"content":[]}' }))).toMatchObject({ content: [] });
  expect(result(ended({ status: 'completed' }))).toEqual(result(ended({ status: 'completed', result: 'null' })));
  const content = [{ type: 'text', text: 'hi' }];
  expect(result(ended({ status: 'completed', result: JSON.stringify({ content }) }))).toMatchObject({ content });
  expect(thrownBy(() => result(ended({ status: 'cancelled' })))).toMatchObject({
    ...{ code: -32603, message: 'Task was cancelled' },
  });
  const error = { code: -32602, message: 'm', data: { reason: 'r' } };
  expect(thrownBy(() => result(failed(error)))).toMatchObject(error);
  expect(thrownBy(() => result(failed()))).toMatchObject({ code: -32603, message: 'The tool failed' });
});

test('a question that could not be asked names what to declare, in a call without a task (D-10)', () => {
  const record = failed({ code: -32603, message: 'm', data: { kinds: ['roots/list'] } });
  expect(thrownBy(() => callResult(record))).toMatchObject({
    ...{ code: -32021, message: 'Tool x asks for input: declare the capability roots' },
    data: { requiredCapabilities: { roots: {} } },
  });
  expect(thrownBy(() => terminalResult(record))).toMatchObject({ code: -32603, message: 'm' });
  expect(thrownBy(() => callResult(failed({ code: 1, message: 'm', data: { kinds: [] } })))).toMatchObject({ code: 1 });
  expect(callResult(ended({ status: 'completed', result: '1', error: '{"data":{"kinds":["a"]}}' }))).toBeDefined();
});
