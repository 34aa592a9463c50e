import { SendTaskSuccessCommand } from '@aws-sdk/client-sfn';
import { expect, it } from 'vitest';
import type { Integration } from '../../../step-functions/index.ts';
import { type Local, RESOURCE, task, until } from '../support.ts';
import { arn, later, useJournal } from './journalled.ts';

const WAITING = `${RESOURCE}.waitForTaskToken`;
const spec = task({ Resource: WAITING, Arguments: { token: '{% $states.context.Task.Token %}' } });
const { open, interrupted } = useJournal();

/** A task that waits, and the tokens that its calls got. */
function calls() {
  const tokens: string[] = [];
  const integration: Integration = async ({ arguments: args }) => void tokens.push((args as { token: string }).token);
  return { tokens, setup: { integrations: { [WAITING]: integration } } };
}
const send = (local: Local, taskToken = '') =>
  local.client.send(new SendTaskSuccessCommand({ taskToken, output: '"answer"' }));
const submitted = (local: Local) => local.engine.executions()[0]?.states.length === 1;

it('a task that waits has the same token after a restart, and is not called again', async () => {
  const { tokens, setup } = calls();
  await interrupted(spec, setup, (local) => submitted(local) && tokens.length === 1);
  const next = await open(spec, { ...setup, now: later(3_600) });
  // Whatever the journal still replays: the answer waits for it.
  await send(next, tokens[0]);
  expect(await next.ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"answer"' });
  expect(tokens).toHaveLength(1);
});

it('an answer that was accepted outlives the process', async () => {
  const { tokens, setup } = calls();
  const slow = {
    ...spec,
    definition: spec.definition
      .replace('"End":true', '"Next":"W"')
      .replace('"States":{', '"States":{"W":{"Type":"Wait","Seconds":100000,"End":true},'),
  };
  const local = await open(slow, setup);
  await local.start({}, 'a');
  await until(() => tokens.length === 1);
  await send(local, tokens[0]);
  await local.engine.stop();
  const next = await open(slow, { ...setup, now: later(200_000) });
  expect(await next.ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"answer"' });
  expect(tokens).toHaveLength(1);
});

it('a stopped engine accepts no answer', async () => {
  const { tokens, setup } = calls();
  const local = await open(spec, setup);
  await local.start({}, 'a');
  await until(() => tokens.length === 1);
  await local.engine.stop();
  const once = { taskToken: tokens[0], output: '1' };
  await expect(local.engine.operations.SendTaskSuccess?.(once)).rejects.toMatchObject({ type: 'ServiceUnavailable' });
});
