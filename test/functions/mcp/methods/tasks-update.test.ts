import { expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { clients } from '../support/fake-clients.ts';

const properties = { ok: { type: 'boolean' } };
const form = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties, required: ['ok'] } },
};

/** A task that asks, and answers to it. */
async function asking() {
  const here = clients();
  const { taskId } = (await here.modern('tools/call', { name: 'optional' })).result as unknown as { taskId: string };
  const record = here.records.get(taskId) as TaskRecord;
  const asked = JSON.stringify({ inputRequests: { sure: form } });
  const accepts = ['elicitation/create'];
  here.records.set(taskId, { ...record, status: 'input_required', asked, accepts, arguments: '{}' });
  return {
    ...here,
    update: (inputResponses: unknown) => here.modern('tasks/update', { taskId, inputResponses }),
    status: () => here.records.get(taskId)?.status,
  };
}

test('an answer that is not valid is refused with its name, and the task waits on (E-17, E-19)', async () => {
  const { update, status } = await asking();
  const { error } = await update({ 'r1.sure': { action: 'accept', content: {} } });
  expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/^inputResponses\['r1.sure'\]: /) });
  expect(status()).toBe('input_required');
});

test.each([undefined, 'x', []])('answers that are no object are an error: %s', async (responses) => {
  const { update } = await asking();
  const message = 'inputResponses must be an object';
  expect((await update(responses)).error).toEqual({ code: -32602, message });
});

test('answers may take so many bytes at most (A-13)', async () => {
  const { update, status } = await asking();
  const answers = (bytes: number) => ({ other: 'x'.repeat(bytes - '{"other":""}'.length) });
  const message = `inputResponses may take ${limits.inputResponses} bytes at most`;
  expect((await update(answers(limits.inputResponses + 1))).error).toEqual({ code: -32602, message });
  expect((await update(answers(limits.inputResponses))).error).toBeUndefined();
  expect(status()).toBe('input_required');
});
