import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, Pass, QueryLanguage, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../lib/index.ts';
import { startCloud } from '../../local/cloud.ts';
import { temporaryDir } from '../../local/test/fixture.ts';
import { runTask } from '../support/clients.ts';

const REGIONS = [
  'us-east-1',
  'us-gov-west-1',
  'cn-north-1',
  'eusc-de-east-1',
  'us-iso-east-1',
  'us-isob-east-1',
  'us-isof-south-1',
  'eu-isoe-west-1',
];

const source = temporaryDir();
writeFileSync(join(source, 'index.js'), 'exports.handler = async () => 1');

/** Writes the assembly of a server with what names services, hosts and ARNs. Projects of `cdk init` have the flag. */
function synth(region: string, auth: Auth) {
  const context = { '@aws-cdk/core:enablePartitionLiterals': true };
  const app = new App({ context, outdir: temporaryDir() });
  const stack = new Stack(app, 'S', { env: { region, account: '111122223333' } });
  const encryptionKey = new Key(stack, 'Key');
  const server = new McpTaskServer(stack, 'Server', {
    auth,
    encryptionKey,
    accessLogs: true,
    waf: true,
    dashboard: true,
  });
  const definitionBody = DefinitionBody.fromChainable(Pass.jsonata(stack, 'Nothing'));
  const tool = { description: 'd', inputSchema: { type: 'object' } } as const;
  const code = Code.fromAsset(source);
  const handler = new LambdaFunction(stack, 'F', { runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code });
  server.addTool('direct', { ...tool, handler });
  server.addTool('standard', { ...tool, handler, taskSupport: 'required' });
  server.addTool('express', {
    ...{ ...tool, handler, taskSupport: 'required', engine: 'express', annotations: { readOnlyHint: true } },
  });
  for (const part of server.node.findAll()) {
    if (part instanceof LambdaFunction) part.addEnvironment('AWS_USE_FIPS_ENDPOINT', 'true');
  }
  server.addTool('machine', {
    ...tool,
    stateMachine: new StateMachine(stack, 'Machine', { definitionBody, queryLanguage: QueryLanguage.JSONATA }),
  });
  return app.synth().directory;
}

/** The template, and the definitions of the workflows. */
function textOf(assembly: string): string {
  const files = readdirSync(assembly).filter((name) => /^S\.template\.json$|^asset\..*\.json$/.test(name));
  return files.map((name) => readFileSync(join(assembly, name), 'utf8')).join('\n');
}

const found = (text: string, pattern: RegExp): string[] => [...new Set(text.match(pattern) ?? [])].sort();

describe.each(REGIONS)('in %s', (region) => {
  const oauth = Auth.oauth({ issuer: 'https://login.example.com', audience: 'https://mcp.example.com/mcp' });
  const text = textOf(synth(region, oauth));

  test('the template names no ARN of another partition', () => {
    expect(text).toContain('"StartAt":"Run"');
    expect(
      found(text, /arn:aws[a-z-]*:/g).filter((begin) => begin !== `arn:${RegionInfo.get(region).partition}:`),
    ).toEqual([]);
  });

  test('the template names no host of another partition, and services by their global names', () => {
    const hosts = found(
      text,
      /[\w.-]*\.(amazonaws\.(com(\.cn)?|eu)|amazon\.com|api\.aws|ic\.gov|sgov\.gov|adc-e\.uk)\b/g,
    );
    const services = ['delivery.logs', 'apigateway', 'events', 'lambda', 'secretsmanager', 'states'];
    // CDK lets the account use the key through Secrets Manager, by this name. The roles have rights by the right name.
    services.push(`secretsmanager.${region}`);
    expect(hosts.filter((host) => !services.includes(host.replace(/\.amazonaws\.com$/, '')))).toEqual([]);
  });
});

test.each(['us-gov-west-1', 'cn-north-1'])('the embedded cloud runs a stack of %s, with FIPS', async (region) => {
  const cloud = await startCloud({ assembly: synth(region, Auth.anonymous()), onLog: () => {} });
  try {
    for (const name of ['standard', 'express', 'machine']) {
      expect(await runTask(`${cloud.url}/mcp`, name)).toMatchObject({ status: 'completed' });
    }
  } finally {
    await cloud.stop();
  }
});
