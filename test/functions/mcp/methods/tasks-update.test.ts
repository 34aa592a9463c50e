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
  const asked = JSON.stringify({ inputRequests: { sure: form, quite: form } });
  const accepts = ['elicitation/create'];
  here.records.set({ ...record, status: 'input_required', asked, accepts, arguments: '{}' });
  return {
    ...here,
    update: (inputResponses: unknown) => here.modern('tasks/update', { taskId, inputResponses }),
    stored: () => here.records.get(taskId),
  };
}

test.each<unknown>([{ action: 'accept', content: {} }, {}, null, 'yes', []])(
  'an invalid answer is refused by name, and nothing is stored: %j (D-25, E-17, E-19)',
  async (answer) => {
    const { update, stored } = await asking();
    const { error } = await update({ 'r1.quite': { action: 'decline' }, 'r1.sure': answer });
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/^inputResponses\['r1.sure'\]/) });
    expect(stored()).toMatchObject({ status: 'input_required', inputResponses: {} });
  },
);

test('keys of no open question are ignored, whatever they hold (E-17, E-18)', async () => {
  const { update, stored } = await asking();
  const others = { sure: 5, 'r2.sure': null, 'r1.sure ': {}, '': [], constructor: 'x' };
  for (const keys of [others, JSON.parse('{"__proto__":{"r1.sure":{"action":"accept"}}}')]) {
    expect((await update(keys)).error).toBeUndefined();
  }
  expect(stored()?.inputResponses).toEqual({});
  await update({ ...others, 'r1.sure': { action: 'cancel' } });
  expect(stored()?.inputResponses).toEqual({ 'r1.sure': '{"action":"cancel"}' });
});

test.each([undefined, 'x', []])('answers that are no object are an error: %s', async (responses) => {
  const { update } = await asking();
  const message = 'inputResponses must be an object';
  expect((await update(responses)).error).toEqual({ code: -32602, message });
});

test('answers may take so many bytes at most (A-13)', async () => {
  const { update, stored } = await asking();
  const answers = (bytes: number) => ({ other: 'x'.repeat(bytes - '{"other":""}'.length) });
  const message = `inputResponses may take ${limits.inputResponses} bytes at most`;
  expect((await update(answers(limits.inputResponses + 1))).error).toEqual({ code: -32602, message });
  expect((await update(answers(limits.inputResponses))).error).toBeUndefined();
  expect(stored()?.status).toBe('input_required');
});
