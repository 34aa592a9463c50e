import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startCloud } from '../../../local/cloud.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { createIam, readAssembly, readSpecs, resolveStack } from '../../../local/testing.ts';
import { runTask } from '../../support/clients.ts';
import { useAssembly } from '../../support/cloud.ts';

const assembly = useAssembly('test/cloud/auth/workflow-rights-app.ts');

/** What the role of each workflow may run, by the names of the resources in the app. */
function rights() {
  const stacks = readAssembly(assembly).map(resolveStack);
  const specs = readSpecs(stacks);
  const iam = createIam(stacks, specs, { region: 'us-east-1', account: '000000000000' });
  const named = (logicalId: string) => logicalId.replace(/[0-9A-F]{8}$/, '');
  const may = (roleArn: string, action: string, all: readonly { readonly logicalId: string; readonly arn: string }[]) =>
    all.filter(({ arn }) => iam.mayRole(roleArn, action, arn)).map(({ logicalId }) => named(logicalId));
  return Object.fromEntries(
    specs.machines.map(({ logicalId, roleArn }) => [
      named(logicalId),
      {
        invokes: may(roleArn, 'lambda:InvokeFunction', specs.functions).toSorted(),
        starts: may(roleArn, 'states:StartExecution', specs.machines),
      },
    ]),
  );
}

test('the role of a workflow may run the tools of its engine, and nothing else', () => {
  expect(rights()).toEqual({
    ServerStandardStateMachine: { invokes: ['Once', 'Repeatable', 'ServerTaskEventsFunction'], starts: [] },
    ServerExpressStateMachine: { invokes: ['Repeatable', 'ServerTaskEventsFunction'], starts: [] },
    ServerMachineStateMachine: { invokes: ['ServerTaskEventsFunction'], starts: ['Flow'] },
    Flow: { invokes: [], starts: [] },
    Other: { invokes: [], starts: [] },
  });
});

describe('with another function or state machine in the list of a workflow', () => {
  /** The assembly with one ARN in place of another in the lists of the workflows. */
  function swapped(tool: string, other: string): string {
    const folder = temporaryDir();
    cpSync(assembly, folder, { recursive: true });
    const file = join(folder, 'Rights.template.json');
    const template = JSON.parse(readFileSync(file, 'utf8'));
    const id = (name: string) =>
      Object.keys(template.Resources).find((one) => one.replace(/[0-9A-F]{8}$/, '') === name);
    for (const { Type, Properties } of Object.values<{ Type: string; Properties: Record<string, unknown> }>(
      template.Resources,
    )) {
      if (Type !== 'AWS::StepFunctions::StateMachine') continue;
      const lists = JSON.stringify(Properties.DefinitionSubstitutions ?? {});
      Properties.DefinitionSubstitutions = JSON.parse(lists.replaceAll(String(id(tool)), String(id(other))));
    }
    writeFileSync(file, JSON.stringify(template));
    return folder;
  }

  test.each([
    ['once', 'Once', 'ServerEndpoint', 'Invoke'],
    ['once', 'Once', 'ServerReconcilerFunction', 'Invoke'],
    ['once', 'Once', 'Direct', 'Invoke'],
    ['flow', 'Flow', 'Other', 'StartExecution'],
    ['flow', 'Flow', 'ServerStandardStateMachine', 'StartExecution'],
  ])('a task of %s fails, with %s replaced by %s', async (tool, own, other, operation) => {
    const cloud = await startCloud({
      assembly: swapped(own, other),
      recordCalls: true,
      schedules: false,
      // A start that is denied is tried again for a quarter of an hour.
      timeScale: 1_000,
    });
    try {
      const ran = await runTask(`${cloud.url}/mcp`, tool);
      expect(ran).toMatchObject({ status: 'failed', error: { code: -32603 } });
      expect(JSON.stringify(ran)).not.toMatch(/arn:|not authorized/);
      const calls = cloud.calls.since().filter((call) => call.caller.includes('Role') && call.operation === operation);
      expect(calls.map(({ error }) => error)).toEqual(calls.map(() => 'AccessDeniedException'));
      expect(calls.length).toBeGreaterThan(0);
    } finally {
      await cloud.stop();
    }
  });
});
