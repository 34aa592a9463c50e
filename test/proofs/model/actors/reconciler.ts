import { type StatusChange, settleEnded } from '../../../../functions/reconciler/ended-run.ts';
import { reconcile } from '../../../../functions/reconciler/reconcile.ts';
import { type SweepContext, sweep } from '../../../../functions/reconciler/sweep.ts';
import { byDocumentClient } from '../../../../functions/tasks/aws/dynamodb.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskKey } from '../../../../functions/tasks/record.ts';
import { inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import { dueIndex } from '../../../../functions/tasks/table/due-index.ts';
import { documentClient } from '../../../support/engine/client.ts';
import { type Execution, MACHINES } from '../../../support/engine/executions.ts';
import { createObjects } from '../../../support/engine/objects.ts';
import type { Process } from '../simulation/process.ts';
import type { Simulation } from '../simulation/simulation.ts';

/** As in functions/reconciler/index.ts: two attempts of at most 2 s, and when Lambda ends it, in ms. */
const CALL_TIMEOUT = 5_000;
const MOST = 60_000;
const RESERVE = 10_000;
const PAGE = 2;
const MINUTE = 60_000;

/** The minute's tick, from `at` on; it may be lost, come late or twice. */
export function scheduleSweeps(simulation: Simulation, at: number): void {
  const { agenda, faults } = simulation;
  agenda.at(at, () => {
    scheduleSweeps(simulation, at + MINUTE);
    if (!simulation.parts.sweeps) return;
    agenda.add({
      label: 'tick',
      by: agenda.now() + MINUTE,
      act(draw) {
        const fate = draw(100) < 100 - faults.rate ? 2 : draw(2);
        if (fate === 0) return;
        startSweep(simulation);
        if (fate === 1) agenda.add({ label: 'tick again', act: () => startSweep(simulation) });
      },
    });
  });
}

function startSweep(simulation: Simulation): void {
  const process = simulation.start({ name: 'sweep', callTimeout: CALL_TIMEOUT, most: MOST });
  sweep(process.now() + MOST - RESERVE, sweepContext(simulation, process)).then(
    ({ errors }) => {
      for (const name of Object.keys(errors)) simulation.checkError({ name }, 'sweep');
      process.end();
    },
    (error: unknown) => simulation.checkError(error, 'sweep'),
  );
}

/** A run has ended in a way that no state could catch: the event of that may be lost, come late or twice. */
export function announce(simulation: Simulation, execution: Execution): void {
  const { agenda, faults } = simulation;
  const { arn: executionArn, name, status, input, error = null } = execution;
  const change: StatusChange = { executionArn, status, input, error };
  agenda.add({
    label: `event: ${name} ${status}`,
    act(draw) {
      const fate = draw(100) < 100 - faults.rate ? 2 : draw(2);
      if (fate === 0) return simulation.trace(`event of ${name} lost`);
      const settle = () => invokeLater(simulation, `settles ${name}`, (context) => settleEnded(change, context));
      settle();
      if (fate === 1) agenda.add({ label: `event: ${name} ${status} again`, act: settle });
    },
  });
}

/** The reader of the stream asks for the next round of a task. */
export function resumeLater(simulation: Simulation, key: TaskKey): void {
  invokeLater(simulation, `resumes ${key.taskId}`, (context) => reconcile(key, true, context));
}

/** Lambda repeats an asynchronous invocation that failed twice, after one and two minutes. */
function invokeLater(
  simulation: Simulation,
  name: string,
  work: (context: SweepContext) => Promise<unknown>,
  retries = 0,
): void {
  const { agenda } = simulation;
  const again = () => {
    if (retries < 2) {
      agenda.at(agenda.now() + MINUTE * (retries + 1), () => invokeLater(simulation, name, work, retries + 1));
    }
  };
  const process = simulation.start({ name, callTimeout: CALL_TIMEOUT, most: MOST, died: again });
  work(sweepContext(simulation, process)).then(process.end, (error: unknown) => {
    simulation.checkError(error, process.name);
    process.end();
    again();
  });
}

function sweepContext(simulation: Simulation, process: Process): SweepContext {
  return {
    ...simulation.services(process, 'reconciler'),
    index: dueIndex(byDocumentClient(documentClient(simulation.table, simulation.quiet(process))), 'tasks', PAGE),
    oldestOpen: async () => undefined,
    checksPerSecond: limits.sweepChecks,
    probe: async () => {},
    inputs: inputStore(createObjects()),
    results: createObjects(),
    toolEngine: () => 'standard',
    log: () => {},
    repeatable: new Set(),
    stateMachines: new Map(),
    machineArnPrefix: MACHINES,
    now: process.now,
    sleep: process.sleep,
  };
}
