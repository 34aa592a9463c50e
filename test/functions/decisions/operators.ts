import { rerunTask } from '../../../functions/operator/acts/rerun.ts';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { explain } from '../../../functions/operator/explain/index.ts';
import { FAILURES, type FailureReason } from '../../../functions/tasks/failures.ts';
import { failed, type Scenario, serverOf } from '../operator/explain/scenario.ts';
import { SCENARIOS } from '../operator/explain/scenarios.ts';
import { ann, EXPRESS_TOOL, KEY } from '../operator/operators.ts';
import { ended, FAULTS, failing } from './faults.ts';

const KEPT = { kept: '{"n":1}' };

/** Each failure, in each state of its run, of tools that may and may not be repeated. */
function* scenarios(): Generator<readonly [string, Scenario]> {
  yield* Object.entries(SCENARIOS);
  for (const reason of Object.keys(FAILURES) as FailureReason[]) {
    for (const run of [undefined, 'FAILED', 'ABORTED']) {
      for (const tool of [{}, { repeatable: true }, EXPRESS_TOOL, null]) {
        const title = `${reason}, run ${run}, tool ${JSON.stringify(tool)}`;
        yield [title, { record: failed(reason, {}, KEPT), tool, ...(run !== undefined && { run }) }];
      }
    }
  }
}

const faults: Readonly<Record<string, (context: OperatorContext, error: Error) => OperatorContext>> = {
  create: (context, error) => ({ ...context, store: failing(context.store, 'create', error) }),
  write: (context, error) => ({ ...context, store: failing(context.store, 'applyBlind', error) }),
  read: (context, error) => ({ ...context, reads: failing(context.reads, 'get', error) }),
  start: (context, error) => ({ ...context, workflow: failing(context.workflow, 'start', error) }),
  input: (context, error) => ({ ...context, inputs: failing(context.inputs, 'whole', error) }),
  runs: (context, error) => ({ ...context, states: failing(context.states, 'send', error) }),
};

async function decided(scenario: Scenario, change: (context: OperatorContext) => OperatorContext = (same) => same) {
  const { context } = serverOf(scenario);
  const server = serverOf(scenario);
  return {
    explained: await ended(explain(KEY, scenario.payload ?? false, change(context))),
    rerun: await ended(rerunTask(KEY, false, ann, change(server.context))),
    did: server.did,
    audited: server.audited,
    // It is random.
    records: server.records.all().map(({ hookKey, ...record }) => ({ ...record, hasKey: hookKey !== undefined })),
  };
}

/** What `explain` and `rerun` decide on each scenario, and where a call of AWS fails. */
export async function decisions(): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const [title, scenario] of scenarios()) all[title] = await decided(scenario);
  const record = failed('NotStarted', {}, KEPT);
  for (const [what, fault] of Object.entries(faults)) {
    for (const [i, error] of FAULTS.entries()) {
      all[`${what} fails: ${i} ${error.name}`] = await decided({ record }, (context) => fault(context, error));
    }
  }
  return all;
}
