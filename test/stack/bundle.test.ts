import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ToolEntry } from '../../functions/mcp/manifest.ts';
import { bundleAuthorizer, bundleEndpoint, bundleReconciler, bundleRotation } from '../../lib/bundles.ts';

const manifest = {
  serverInfo: { name: 's', version: '1' },
  auth: 'anonymous' as const,
  maxTtl: 1,
  inlineWindow: 1,
  holdCap: 1,
  questionStream: true,
  maxOpenTasks: 1,
  maxStreams: 1,
  helperTools: true,
  allowedOrigins: [],
  tools: [
    {
      name: 't',
      description: 'd',
      inputSchema: { type: 'object' },
      taskSupport: 'forbidden',
      timeout: 1,
      function: 0,
    } as const,
  ],
};

const probe = `
  globalThis.awslambda = { streamifyResponse: (f) => f, HttpResponseStream: { from: (s) => s } };
  process.env.AWS_REGION = 'us-east-1';
  const names = ['TASKS_TABLE', 'RESULTS_BUCKET', 'SIGNING_KEY_SECRET', 'MACHINE_ARN_PREFIX', 'TOOL_FUNCTIONS'];
  for (const name of names) process.env[name] = 'named';
  const { handler } = require(process.argv[1]);
  const list = process.moduleLoadList.filter((name) => /undici/.test(name));
  console.log(JSON.stringify({ handler: typeof handler, undici: list }));`;

test('the endpoint is one CommonJS file under 331 KB whose loading does not load undici', () => {
  bundleEndpoint(manifest, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js']);
    expect(statSync(join(folder, 'index.js')).size).toBeLessThan(331_000);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the reconciler is one CommonJS file under 400 KB with task-capable workflows only', () => {
  const tools = [...manifest.tools, { ...manifest.tools[0], name: 'long.one', machine: 'long-one-1' } as ToolEntry];
  bundleReconciler(tools, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js']);
    expect(statSync(join(folder, 'index.js')).size).toBeLessThan(400_000);
    expect(readFileSync(join(folder, 'index.js'), 'utf8')).toMatch(/\{"long\.one":"long-one-1"\}/);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the authorizer is one CommonJS file under 60 KB that knows the scopes of tools', () => {
  const tools = [...manifest.tools, { ...manifest.tools[0], name: 'deploy', scopes: ['ops:deploy'] } as ToolEntry];
  bundleAuthorizer(tools, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js']);
    expect(statSync(join(folder, 'index.js')).size).toBeLessThan(60_000);
    expect(readFileSync(join(folder, 'index.js'), 'utf8')).toMatch(/\{deploy:\["ops:deploy"\]\}/);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the rotation of the signing key is one CommonJS file under 200 KB', () => {
  bundleRotation((folder) => {
    expect(readdirSync(folder)).toEqual(['index.js']);
    expect(statSync(join(folder, 'index.js')).size).toBeLessThan(200_000);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the probe does see undici when it is loaded', () => {
  const printed = execFileSync(process.execPath, ['-e', `new Request('http://a'); ${probe}`, 'node:path'], {
    encoding: 'utf8',
  });
  expect(JSON.parse(printed).undici.length).toBeGreaterThan(0);
});
