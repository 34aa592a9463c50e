import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../lib/index.ts';
import { startCloud } from '../../local/cloud.ts';
import { temporaryDir } from '../../local/test/fixture.ts';
import { INVOKE } from '../proofs/faults/crash-table/cloud.ts';
import { ended, modernRequest, poll, runTask } from '../support/clients.ts';

const source = temporaryDir();
writeFileSync(join(source, 'index.js'), 'exports.handler = async () => 1');
const tool = { description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' } as const;

/** A server with a tool that may be repeated, on this engine, and one that may not. Each has a function of its own. */
function synth(engine: 'standard' | 'express') {
  const app = new App({ outdir: temporaryDir() });
  const stack = new Stack(app, 'S');
  const handler = (id: string) =>
    new LambdaFunction(stack, id, {
      ...{ runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code: Code.fromAsset(source) },
      timeout: Duration.seconds(9),
    });
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  server.addTool('moves', { ...tool, handler: handler('Moves'), engine, annotations: { idempotentHint: true } });
  server.addTool('stays', { ...tool, handler: handler('Stays') });
  return { template: Template.fromStack(stack), assembly: app.synth().directory };
}

test('a deployment changes an engine: a waiting try and a call meanwhile find the tool (row 23)', async () => {
  const [before, after] = [synth('standard'), synth('express')];
  const cloud = await startCloud({ assembly: before.assembly, timeScale: 10 });
  try {
    const url = `${cloud.url}/mcp`;
    const throttled = cloud.faults.add({
      ...{ ...INVOKE, times: 1_000 },
      do: { error: 'TooManyRequestsException', status: 429 },
    });
    const { body } = await modernRequest(url, 'tools/call', { name: 'moves', arguments: {} });
    await throttled.struck;
    // The endpoint has its new code; the workflows need no change, nor do the rights of their roles.
    expect(cloud.redeploy(after.assembly)).toEqual({
      updated: expect.arrayContaining([expect.any(String)]),
      refused: [],
    });
    throttled.remove();
    expect(await poll(url, body.result.taskId, ended)).toMatchObject({ status: 'completed' });
    expect(await runTask(url, 'moves')).toMatchObject({ status: 'completed' });
    const machines = cloud.stepFunctions.executions().map(({ arn }) => arn.split(':')[6]);
    expect(machines).toEqual([expect.stringMatching(/-standard$/), expect.stringMatching(/-express$/)]);
  } finally {
    await cloud.stop();
  }
});

test('the workflow on Express knows no tool that may not be repeated, and may not run one', () => {
  const { template } = synth('standard');
  const text = (type: string) =>
    Object.entries(template.findResources(type)).flatMap(([id, { Properties }]) =>
      id.startsWith('ServerExpress') ? JSON.stringify(Properties) : [],
    );
  for (const type of ['AWS::StepFunctions::StateMachine', 'AWS::IAM::Policy']) {
    expect(text(type)).toEqual([expect.stringContaining('"Moves')]);
    expect(text(type)).toEqual([expect.not.stringContaining('"Stays')]);
  }
});
