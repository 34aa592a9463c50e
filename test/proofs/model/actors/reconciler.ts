import { machineOf } from '../../../../functions/mcp/wiring.ts';
import { type StatusChange, settleEnded } from '../../../../functions/reconciler/ended-run.ts';
import { type SweepContext, sweep } from '../../../../functions/reconciler/sweep.ts';
import { byDocumentClient } from '../../../../functions/tasks/aws/dynamodb.ts';
import { dueIndex } from '../../../../functions/tasks/table/due-index.ts';
import { fakeObjects, noInputs } from '../../../functions/tasks/s3/fake-inputs.ts';
import { documentClient } from '../../../support/engine/client.ts';
import type { Process } from '../world/process.ts';
import { type Execution, MACHINE_PREFIX } from '../world/step-functions.ts';
import type { World } from '../world/world.ts';
import { tools } from './tools.ts';

/** As in functions/reconciler/index.ts: two attempts of at most 2 s, and when Lambda ends it, in ms. */
const PATIENCE = 5_000;
const MOST = 60_000;
const RESERVE = 10_000;
const PAGE = 2;
const MINUTE = 60_000;

/** The minute's tick, from `at` on; it may be lost, come late or twice. */
export function scheduleSweeps(world: World, at: number): void {
  const { agenda, faults } = world;
  agenda.at(at, () => {
    scheduleSweeps(world, at + MINUTE);
    if (!world.parts.sweeps) return;
    agenda.add({
      label: 'tick',
      by: agenda.now() + MINUTE,
      act(draw) {
        const fate = draw(100) < 100 - faults.rate ? 2 : draw(2);
        if (fate === 0) return;
        startSweep(world);
        if (fate === 1) agenda.add({ label: 'tick again', act: () => startSweep(world) });
      },
    });
  });
}

function startSweep(world: World): void {
  const process = world.start({ name: 'sweep', patience: PATIENCE, most: MOST });
  sweep(process.now() + MOST - RESERVE, sweepWorld(world, process)).then(
    ({ errors }) => {
      for (const name of Object.keys(errors)) world.checkError({ name }, 'sweep');
      process.end();
    },
    (error: unknown) => world.checkError(error, 'sweep'),
  );
}

/** A run has ended in a way that no state could catch: the event of that may be lost, come late or twice. */
export function announce(world: World, execution: Execution): void {
  const { agenda, faults } = world;
  const { arn: executionArn, name, status, input, error = null } = execution;
  const change: StatusChange = { executionArn, name, status, input, error };
  agenda.add({
    label: `event: ${name} ${status}`,
    act(draw) {
      const fate = draw(100) < 100 - faults.rate ? 2 : draw(2);
      if (fate === 0) return world.trace(`event of ${name} lost`);
      settle(world, change, 0);
      if (fate === 1) agenda.add({ label: `event: ${name} ${status} again`, act: () => settle(world, change, 0) });
    },
  });
}

/** Lambda repeats an asynchronous invocation that failed twice, after one and two minutes. */
function settle(world: World, change: StatusChange, retries: number): void {
  const again = () => {
    if (retries < 2)
      world.agenda.at(world.agenda.now() + MINUTE * (retries + 1), () => settle(world, change, retries + 1));
  };
  const process = world.start({ name: `settles ${change.name}`, patience: PATIENCE, most: MOST, died: again });
  settleEnded(change, sweepWorld(world, process)).then(process.end, (error: unknown) => {
    world.checkError(error, process.name);
    process.end();
    again();
  });
}

function sweepWorld(world: World, process: Process): SweepContext {
  return {
    ...world.services(process, 'reconciler'),
    index: dueIndex(byDocumentClient(documentClient(world.table, world.quiet(process))), 'tasks', PAGE),
    oldestOpen: async () => undefined,
    inputs: noInputs(),
    results: fakeObjects(),
    machineOf: machineOf(tools),
    log: () => {},
    repeatable: new Set(),
    stateMachines: new Map(),
    machineArnPrefix: MACHINE_PREFIX,
    now: process.now,
    sleep: process.sleep,
  };
}
