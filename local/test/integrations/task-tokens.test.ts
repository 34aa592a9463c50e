import {
  DescribeExecutionCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cloud } from '../../cloud.ts';
import { objectOf } from '../../json.ts';
import { clientConfig, functionResource } from '../fixture.ts';
import { allow, machine, role, start } from '../iam/stack.ts';

let cloud: Cloud;
beforeAll(async () => {
  const Arguments = { FunctionName: 'Test-Worker', Payload: { token: '{% $states.context.Task.Token %}' } };
  const state = { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken', Arguments, End: true };
  const answers = ['states:SendTaskSuccess', 'states:SendTaskFailure', 'states:SendTaskHeartbeat'];
  cloud = await start(
    {
      Approve: machine('ClerkRole', state),
      Other: machine('ClerkRole', state),
      AnswerRole: role('lambda', [allow(answers, { Ref: 'Approve' })]),
      Answer: functionResource('code', { Role: { 'Fn::GetAtt': ['AnswerRole', 'Arn'] } }),
    },
    { recordCalls: true },
  );
});
afterAll(() => cloud?.stop());

const client = (caller?: string) => new SFNClient({ ...clientConfig(cloud, caller), maxAttempts: 1 });

/** Starts a machine, and gives the execution with the token that its function got. */
async function waits(name: string) {
  const mark = cloud.calls.mark();
  const stateMachineArn = `arn:aws:states:us-east-1:000000000000:stateMachine:Test-${name}`;
  const { executionArn = '' } = await client().send(new StartExecutionCommand({ stateMachineArn }));
  const invoked = () => cloud.calls.since(mark).find(({ operation }) => operation === 'Invoke');
  await expect.poll(invoked).toBeDefined();
  const taskToken = String(objectOf(objectOf(invoked()?.input).Payload).token);
  return { executionArn, taskToken };
}

test('a function whose role names the machine answers for its tasks', async () => {
  const { executionArn, taskToken } = await waits('Approve');
  await client('Answer').send(new SendTaskHeartbeatCommand({ taskToken }));
  await client('Answer').send(new SendTaskSuccessCommand({ taskToken, output: '{"approved":true}' }));
  await cloud.stepFunctions.closed(executionArn);
  const ended = await client().send(new DescribeExecutionCommand({ executionArn }));
  expect(ended).toMatchObject({ status: 'SUCCEEDED', output: '{"approved":true}' });
});

test('no other function does, and none for another machine', async () => {
  const { taskToken } = await waits('Other');
  for (const caller of ['Answer', 'Worker']) {
    const refused = client(caller).send(new SendTaskFailureCommand({ taskToken }));
    await expect(refused).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining('stateMachine:Test-Other'),
    });
  }
});
