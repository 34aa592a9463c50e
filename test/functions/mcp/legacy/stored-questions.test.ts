import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { ResultStoreError } from '../../../../functions/tasks/results/result-store.ts';
import { form, legacyServer, YES } from '../support/legacy-server.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue(undefined));
afterEach(() => void vi.restoreAllMocks());

const LARGE = 'Sure?'.padEnd(limits.inlineInput + 1, '?');

/** A legacyServer whose tool asks a question that lies in S3. `fails` says which reads of S3 fail. */
function storedServer(fails: (record: TaskRecord) => boolean) {
  const here = legacyServer({ sure: form(LARGE) });
  const { inputs } = here.server;
  const failed: string[] = [];
  const whole: typeof inputs.whole = async (record) => {
    if (record.inputRef === undefined || !fails(record)) return inputs.whole(record);
    failed.push(record.taskId);
    throw new ResultStoreError('read', 'SlowDown');
  };
  Object.assign(here.server, { inputs: { ...inputs, whole } });
  return { ...here, failed };
}

test.each([
  ['tasks/result', 'a task'],
  ['tools/call', 'a call without a task'],
])('%s: one failed read of S3 does not end the stream of %s (C-18)', async (method) => {
  const here = storedServer(() => here.failed.length === 0);
  const client = await here.session();
  const params = method === 'tasks/result' ? { taskId: await client.create() } : { name: 'optional' };
  const { messages } = await client.request(method, params, ({ id, method: asks }) =>
    asks === undefined ? undefined : client.respond(id, YES),
  );
  expect(here.failed).toHaveLength(1);
  expect(messages).toMatchObject([
    { method: 'elicitation/create', params: { message: LARGE } },
    { result: { structuredContent: { sure: YES } } },
  ]);
});

test('the stream of a session asks for its other tasks while S3 gives no input of one (B-09)', async () => {
  let lost = '';
  const here = storedServer(({ taskId }) => taskId === lost);
  const client = await here.session();
  const [opened] = (await client.listen()).eventIds;
  const taskIds = [await client.create(), await client.create()];
  for (const taskId of taskIds) await client.request('tasks/get', { taskId });
  [lost = ''] = taskIds;
  here.wait(2_000);
  const first = await client.listen(opened);
  expect(here.failed).toEqual([lost]);
  const relatedTo = (message: { params: { _meta: object } }) => JSON.stringify(message.params._meta);
  expect(first.messages.map(relatedTo)).toEqual([expect.stringContaining(taskIds[1] ?? '')]);
  lost = '';
  const second = await client.listen(first.eventIds.at(-1));
  expect(second.messages.map(relatedTo)).toEqual([expect.stringContaining(taskIds[0] ?? '')]);
});
