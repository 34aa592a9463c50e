import { readFileSync } from 'node:fs';
import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { machine, machineArn, RESOURCE } from '../support.ts';
import { answers, arn, call, hang, useJournal } from './journalled.ts';

const { file, interrupted, open } = useJournal();

describe('an execution keeps the definition it began with (row 23)', () => {
  const version = (output: string) =>
    machine({
      StartAt: 'S',
      States: { S: call({ Next: output }), [output]: { Type: 'Pass', Output: output, End: true } },
    });

  it('when another one of the same name is deployed, for later executions', async () => {
    const before = answers();
    await interrupted(version('old'), { task: before.integration }, () => before.calls.length === 1);
    const local = await open(version('new'), { task: async () => 'ok' });
    expect(await local.ended(await local.start({}, 'b'))).toMatchObject({ output: '"new"' });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"old"' });
    expect(local.snapshot(arn)).toMatchObject({ states: ['S', 'old'] });
  });

  it('but not when its machine has been deleted: then it fails', async () => {
    const before = answers();
    await interrupted(version('old'), { task: before.integration }, () => before.calls.length === 1);
    const after = answers();
    const local = await open(machine({ StartAt: 'S', States: { S: { Type: 'Pass', End: true } } }, 'other'), {
      task: after.integration,
    });
    await local.engine.closed(arn);
    const cause = 'State machine m has been deleted.';
    expect(await local.describe(arn)).toMatchObject({ status: 'FAILED', error: 'States.Runtime', cause });
    expect(after.calls).toEqual([]);
    expect(local.changes).toMatchObject([{ status: 'FAILED', executionArn: arn }]);
    const start = new StartExecutionCommand({ stateMachineArn: machineArn() });
    await expect(local.client.send(start)).rejects.toThrow(
      expect.objectContaining({ name: 'StateMachineDoesNotExist' }),
    );
  });

  it('fails by name when its Resource is no longer known', async () => {
    const before = answers();
    await interrupted(version('old'), { task: before.integration }, () => before.calls.length === 1);
    const local = await open(machine({ StartAt: 'S', States: { S: { Type: 'Pass', End: true } } }), {
      integrations: {},
    });
    expect(await local.describe(arn)).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: expect.stringContaining(`no integration is registered for '${RESOURCE}'`),
    });
  });

  it('which is stored once, for any number of executions', async () => {
    const local = await open(version('old'), { task: hang });
    for (let i = 0; i < 10; i += 1) await local.start();
    const lines = readFileSync(file(), 'utf8').trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('{"type":"machine"'))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('{"type":"started"'))).toHaveLength(10);
  });
});
