import { expect, test } from 'vitest';
import { definition } from '../../../../lib/workflow/definition.ts';
import { ended, poll, runTask } from '../../../support/clients.ts';
import { changedAssembly, useCrashCloud } from './cloud.ts';
import { SECONDS, settles } from './row.ts';

/** Rows of the crash table that need another template: a shorter timeout, a workflow with another end. */
interface Template {
  readonly Resources: Readonly<Record<string, { Type: string; Properties: Record<string, unknown> }>>;
}
interface Definition {
  TimeoutSeconds: number;
  readonly States: Record<string, Record<string, unknown>>;
}

const short = changedAssembly((text) =>
  changed(text, (template, definition) => {
    const tools = resource(template, 'AWS::Lambda::Function', /^Tools/);
    expect(tools.Timeout).toBe(300);
    tools.Timeout = 1;
    const { States } = definition;
    States.Run = { ...States.Run, Next: 'Again' };
    // Step Functions ends an execution at 25,000 events of history.
    States.Again = { Type: 'Pass', Next: 'Again' };
  }),
);
const timed = changedAssembly((text) =>
  changed(text, (_template, definition) => {
    expect(definition.TimeoutSeconds).toBeGreaterThan(600_000);
    definition.TimeoutSeconds = 1;
  }),
);

function changed(text: string, change: (template: Template, definition: Definition) => void): string {
  const template = JSON.parse(text) as Template;
  const machine = resource(template, 'AWS::StepFunctions::StateMachine', /^ServerStandard/);
  const standard = JSON.parse(definition('standard')) as Definition;
  change(template, standard);
  delete machine.DefinitionS3Location;
  machine.DefinitionString = JSON.stringify(standard);
  return JSON.stringify(template);
}

function resource({ Resources }: Template, type: string, name: RegExp): Record<string, unknown> {
  const [found, ...more] = Object.entries(Resources).filter(([id, { Type }]) => Type === type && name.test(id));
  if (found === undefined || more.length > 0) throw new Error(`No one resource is ${name}`);
  return found[1].Properties;
}

const clouds = { short: useCrashCloud({ assembly: short }), timed: useCrashCloud({ assembly: timed }) };

test('row 7: its function times out: the task fails', async ({ task }) => {
  const { now, url } = clouds.short;
  const since = now();
  const ran = await runTask(url(), 'sleep', { ms: 5_000 });
  settles(task, { row: 7, tookMs: now() - since, boundMs: SECONDS });
  expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: 'Sandbox.Timedout' } } });
});

test.for([
  ['is timed out as a whole', 'timed', 'spin', { file: '/dev/null' }, 'TIMED_OUT', 'States.Timeout'],
  ['ends with States.Runtime, which nothing can catch', 'short', 'event', {}, 'FAILED', 'States.Runtime'],
] as const)('row 13: its run %s: the event fails the task', async ([_, of, tool, args, status, reason], { task }) => {
  const { now, runsOf, start, stored, url } = clouds[of];
  const taskId = await start(tool, args);
  await expect.poll(() => runsOf(taskId), { interval: 20 }).toMatchObject([{ status }]);
  const since = now();
  const shown = await poll(url(), taskId, ended);
  settles(task, { row: 13, tookMs: now() - since, boundMs: SECONDS });
  expect(shown).toMatchObject({ status: 'failed', error: { code: -32603, data: { reason } } });
  expect(await stored(taskId)).toMatchObject({ status: 'failed' });
});
