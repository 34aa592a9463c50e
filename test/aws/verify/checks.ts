import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeExecutionCommand, ListExecutionsCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { executionArnOf } from '../../../functions/tasks/ids.ts';
import { type Check, must, type VerifyContext } from './check.ts';
import { streamChecks } from './stream-checks.ts';
import type { Rights } from './tools.ts';

/** The event of an ended run comes within seconds; the sweep would find it after a minute. */
const BY_EVENT = 45_000;

export const checks: readonly Check[] = [
  {
    name: 'a function that works for 90 s completes: lambda:invoke waits for it',
    async run({ client, nap }) {
      const since = Date.now();
      const task = await client.end(await client.start('nap', { ms: nap }), nap + 60_000);
      must(task.status === 'completed', `the task is ${task.status}: ${JSON.stringify(task.error)}`);
      return `completed after ${Math.round((Date.now() - since) / 1_000)} s`;
    },
  },
  {
    name: 'the policy of a tool allows a projected GetItem of its record, a write and a Query beside it, and nothing more',
    async run({ client }) {
      const task = await client.end(await client.start('credentials'), 60_000);
      must(task.status === 'completed', `the task is ${task.status}: ${JSON.stringify(task.error)}`);
      const rights: Rights = JSON.parse(task.result.content[0].text);
      const { projected, whole, others, beside, into, journal } = rights;
      must(projected === 'allowed', `a projected GetItem is refused: ${projected}`);
      must(whole === 'AccessDeniedException', `a GetItem of the whole record: ${whole}`);
      must(others === 'AccessDeniedException', `a GetItem of the arguments: ${others}`);
      must(beside === 'allowed', `a write beside the record is refused: ${beside}`);
      must(into === 'AccessDeniedException', `a write into the record: ${into}`);
      must(journal === 'allowed', `a Query of the journal is refused: ${journal}`);
      for (const query of ['records', 'messages', 'items'] as const) {
        must(rights[query] === 'AccessDeniedException', `a Query (${query}): ${rights[query]}`);
      }
      return 'as meant';
    },
  },
  {
    name: 'the event of a run that was stopped fails its task, with the name of the error',
    async run({ client, sfn, machine }) {
      const taskId = await client.start('nap', { ms: 120_000 });
      const executionArn = executionArnOf({ taskId, round: 1 }, machine);
      await sfn.send(new StopExecutionCommand({ executionArn, error: 'Verify.Stopped', cause: 'test:aws' }));
      const { status, error } = await client.end(taskId, BY_EVENT);
      // What the reconciler writes: the workflow has no part in it.
      must(error?.message === 'The run of the tool ended without a result', `${status}: ${JSON.stringify(error)}`);
      return `failed with reason ${error.data.reason} (Verify.Stopped: the event has the error)`;
    },
  },
  {
    name: 'tasks/cancel stops the run',
    async run({ client, sfn, machine }) {
      const taskId = await client.start('nap', { ms: 120_000 });
      await client.request('tasks/cancel', { taskId });
      const executionArn = executionArnOf({ taskId, round: 1 }, machine);
      const status = async () => (await sfn.send(new DescribeExecutionCommand({ executionArn }))).status;
      must(await within(10, async () => (await status()) === 'ABORTED'), 'the execution goes on');
      return 'the execution is ABORTED';
    },
  },
  {
    name: 'tasks/cancel stops a state machine that is a tool (best effort of Step Functions)',
    async run({ client, sfn, author }) {
      const taskId = await client.start('machine');
      const running = new ListExecutionsCommand({ stateMachineArn: author, statusFilter: 'RUNNING' });
      const count = async () => (await sfn.send(running)).executions?.length ?? 0;
      must(await within(20, async () => (await count()) > 0), 'its execution does not begin');
      await client.request('tasks/cancel', { taskId });
      must(await within(20, async () => (await count()) === 0), 'its execution goes on');
      return 'its execution has ended';
    },
  },
  {
    name: 'a tool can be the version of a function',
    async run({ client }) {
      const { tools } = await client.request('tools/list', {});
      if (!tools.some(({ name }: { name: string }) => name === 'pinned')) return 'not in this stack: needs --options';
      const task = await client.end(await client.start('pinned'), 60_000);
      must(task.status === 'completed', `the task is ${task.status}: ${JSON.stringify(task.error)}`);
      return 'it ran';
    },
  },
  {
    name: 'requests with a signature of our own reach Lambda and S3',
    async run({ client }) {
      const direct = await client.request('tools/call', { name: 'direct', arguments: {} });
      must(direct.content[0].text === 'hello from direct', `a direct call: ${JSON.stringify(direct)}`);
      const large = await client.end(await client.start('large'), 60_000);
      must(large.result?.content[0].text.length === 200_000, `a large result: ${JSON.stringify(large).slice(0, 300)}`);
      return 'a direct call, and a result of 200 KB';
    },
  },
  {
    name: 'a call without a task is answered in its window',
    async run({ client }) {
      const result = await client.request('tools/call', { name: 'nap', arguments: { ms: 2_000 } }, false);
      must(result.content[0].text === 'hello from nap', JSON.stringify(result));
      return 'with its result';
    },
  },
  ...streamChecks,
];

/** Runs them all, prints what each saw, and answers whether all are right. */
export async function runChecks(context: VerifyContext, print: (line: string) => void): Promise<boolean> {
  let right = true;
  for (const { name, run } of checks) {
    try {
      print(`right: ${name}: ${await run(context)}`);
    } catch (error) {
      right = false;
      print(`WRONG: ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return right;
}

async function within(seconds: number, isSo: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < seconds; tries++) {
    if (await isSo()) return true;
    await sleep(1_000);
  }
  return false;
}
