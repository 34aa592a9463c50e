import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { clientConfig } from '../../../local/test/fixture.ts';
import { allAborted, answer, ask, type Deployed, reaches, send, start, stateOf } from './deployed.ts';

const MINUTE = 60_000;

export async function repairs(deployed: Deployed): Promise<void> {
  const { cloud, lines, until } = deployed;
  const caller = 'ServerEndpoint';
  const dies = () => cloud.faults.add({ service: 'states', operation: 'StartExecution', caller, do: 'killWorker' });
  const sweep = () => cloud.schedules.fire('ServerReconcilerSweep');

  // A run ends outside its workflow: an event, or none that arrives, and then a letter.
  const ends = async () => {
    const taskId = await start(deployed, 'work', { spin: true });
    await until('a run', () => stateOf(deployed, taskId)[0]);
    const [run] = stateOf(deployed, taskId);
    await new SFNClient(clientConfig(cloud)).send(new StopExecutionCommand({ executionArn: run?.arn }));
    return taskId;
  };
  await reaches(deployed, await ends(), 'failed');
  cloud.faults.add({ service: 'events', operation: 'Deliver', do: { error: 'Gone', status: 400 } });
  await ends();
  await until('a dead letter', () => [...cloud.queues.values()].flat()[0]);

  // Answered, and not started again; still running a minute later; overdue. What they were called with lies in S3, for
  // the sweep, and for an endpoint that did not put it there.
  const note = 'x'.repeat(5_000);
  const asking = await start(deployed, 'work', { ask: true, note });
  const later = await start(deployed, 'work', { ask: true, note });
  await reaches(deployed, asking, 'input_required');
  dies();
  await answer(deployed, asking).catch(() => undefined);
  const running = await start(deployed, 'work', { spin: true });
  await until('a run', () => stateOf(deployed, running)[0]);
  // A tool that is a state machine: the sweep reads its execution, too.
  const machine = await start(deployed, 'machine', { seconds: 36_000 });
  await until('the machine to run', () => (stateOf(deployed, machine).length === 2 ? true : undefined));
  cloud.clock.advance(MINUTE);
  await sweep();
  await until('the sweep to start a round', () => stateOf(deployed, `${asking}-r2`)[0]);
  await answer(deployed, later);
  await reaches(deployed, later, 'completed');
  await until('metrics', () => lines.find((line) => /Reconciler.*"Sweep":1/.test(line)));
  const looked = cloud.calls
    .since()
    .filter(({ operation, status }) => operation === 'DescribeExecution' && status === 200);
  if (!looked.some(({ caller: by }) => by.includes('Reconciler'))) throw new Error('the sweep looked at no run');
  cloud.clock.advance(6 * MINUTE);
  await sweep();
  // A refused check shows nothing, and the workflow checks its machine, too.
  const looks = () =>
    cloud.calls.since().filter(({ operation, status }) => operation === 'DescribeExecution' && status === 200);
  const atMachine = () =>
    looks().find(
      ({ caller: by, input }) => /Reconciler/.test(by) && /execution:[^"]*Machine/.test(JSON.stringify(input)),
    );
  await until('the sweep to look at the machine', atMachine);
  await ask(deployed, 'tasks/cancel', { taskId: machine });
  cloud.clock.advance(3_600_000);
  await sweep();
  await allAborted(deployed, running);
  await send(deployed, 'tasks/get', { taskId: running });
}

/** The machine of a tool has ended, and its workflow cannot store what it returned or asks: the reconciler does. */
export async function lost(deployed: Deployed): Promise<void> {
  for (const [asks, status] of [
    [false, 'completed'],
    [true, 'input_required'],
  ] as const) {
    await lostOnce(deployed, asks, status);
  }
}

async function lostOnce(deployed: Deployed, asks: boolean, status: string): Promise<void> {
  const refused = { error: 'ServiceException', status: 500 };
  const caller = 'ServerMachineRole';
  const fault = deployed.cloud.faults.add({
    service: 'lambda',
    operation: 'Invoke',
    caller,
    do: refused,
    times: 1_000,
  });
  const taskId = await start(deployed, 'machine', { seconds: 1, filler: 'x'.repeat(2_000), ask: asks });
  await deployed.until('a workflow that cannot store a result', () => fault.hits || undefined);
  const workflow = stateOf(deployed, taskId).find(({ status }) => status === 'RUNNING');
  await new SFNClient(clientConfig(deployed.cloud)).send(new StopExecutionCommand({ executionArn: workflow?.arn }));
  await reaches(deployed, taskId, status);
  fault.remove();
}
