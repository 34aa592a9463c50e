import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { createStepFunctions, type StepFunctions } from '../../../step-functions/index.ts';
import { machine, machineArn, RESOURCE } from '../support.ts';

/** The heap of this process after a garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

async function runMany(engine: StepFunctions, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const started = await engine.operations.StartExecution?.({ stateMachineArn: machineArn(), input: '{}' });
    await engine.closed((started as { executionArn: string }).executionArn);
  }
}

it('keeps only the texts and events of a closed execution', async () => {
  const Work = { Type: 'Task', Resource: RESOURCE, Arguments: {}, TimeoutSeconds: 60, Next: 'Done' };
  const definition = machine({ StartAt: 'Work', States: { Work, Done: { Type: 'Succeed' } } });
  const engine = createStepFunctions([definition], { integrations: { [RESOURCE]: async () => ({}) } });
  onTestFinished(engine.stop);
  // Compiled code must not count as memory of executions.
  await runMany(engine, 1000);
  const before = heapUsed();
  await runMany(engine, 2000);
  // 1.7 KB; with its signal, the reason of that and its recorder it was 3.7 KB.
  expect((heapUsed() - before) / 2000).toBeLessThan(2.5 * 1024);
});
