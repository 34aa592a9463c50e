import { expect, test } from 'vitest';
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

const assembly = changedAssembly((text) => {
  const template = JSON.parse(text) as Template;
  const tools = resource(template, 'AWS::Lambda::Function', /^Tools/);
  expect(tools.Timeout).toBe(300);
  tools.Timeout = 1;
  changeDefinition(template, /^ServerToolspin/, (definition) => {
    expect(definition.TimeoutSeconds).toBeGreaterThan(600_000);
    definition.TimeoutSeconds = 1;
  });
  changeDefinition(template, /^ServerToolevent/, ({ States }) => {
    States.Run = { ...States.Run, Next: 'Again' };
    // Step Functions ends an execution at 25,000 events of history.
    States.Again = { Type: 'Pass', Next: 'Again' };
  });
  return JSON.stringify(template);
});

function resource({ Resources }: Template, type: string, name: RegExp): Record<string, unknown> {
  const [found, ...more] = Object.entries(Resources).filter(([id, { Type }]) => Type === type && name.test(id));
  if (found === undefined || more.length > 0) throw new Error(`No one resource is ${name}`);
  return found[1].Properties;
}

function changeDefinition(template: Template, name: RegExp, change: (definition: Definition) => void): void {
  const machine = resource(template, 'AWS::StepFunctions::StateMachine', name);
  const definition = JSON.parse(String(machine.DefinitionString)) as Definition;
  change(definition);
  machine.DefinitionString = JSON.stringify(definition);
}

const { url, now, start, stored, runsOf } = useCrashCloud({ assembly });

test('row 7: its function times out: the task fails', async ({ task }) => {
  const since = now();
  const ran = await runTask(url(), 'sleep', { ms: 5_000 });
  settles(task, { row: 7, tookMs: now() - since, boundMs: SECONDS });
  expect(ran).toMatchObject({ status: 'failed', error: { data: { reason: 'Sandbox.Timedout' } } });
});

test.for([
  ['is timed out as a whole', 'spin', { file: '/dev/null' }, 'TIMED_OUT', 'States.Timeout'],
  ['ends with States.Runtime, which nothing can catch', 'event', {}, 'FAILED', 'States.Runtime'],
] as const)('row 13: its run %s: the event fails the task', async ([_, tool, args, status, reason], { task }) => {
  const taskId = await start(tool, args);
  await expect.poll(() => runsOf(taskId), { interval: 20 }).toMatchObject([{ status }]);
  const since = now();
  const shown = await poll(url(), taskId, ended);
  settles(task, { row: 13, tookMs: now() - since, boundMs: SECONDS });
  expect(shown).toMatchObject({ status: 'failed', error: { code: -32603, data: { reason } } });
  expect(await stored(taskId)).toMatchObject({ status: 'failed' });
});
