import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheName } from '../../../functions/loader/cache-file.ts';
import type { ToolEntry } from '../../../functions/mcp/manifest.ts';
import { bundleAuthorizer, bundleEndpoint, bundleReconciler, bundleRotation } from '../../../lib/bundles.ts';

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

test('the endpoint: bundle, loader, cache, manifest, validators; none loads undici', () => {
  bundleEndpoint(manifest, (folder) => {
    expect(readdirSync(folder)).toEqual(['bundle.js', 'index.js', cacheName(), 'manifest.json', 'validators.cjs']);
    expect(statSync(join(folder, 'index.js')).size).toBeLessThan(3_000);
    expect(statSync(join(folder, cacheName())).size).toBeLessThan(1_000_000);
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toEqual(manifest);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the reconciler: bundle, loader, cache, workflows of task-capable tools only', () => {
  const tools = [...manifest.tools, { ...manifest.tools[0], name: 'long.one', machine: 'long-one-1' } as ToolEntry];
  bundleReconciler(tools, (folder) => {
    const parts = ['express.json', 'index.js', cacheName(), 'machines.json', 'repeatable.json', 'state-machines.json'];
    expect(readdirSync(folder)).toEqual(['bundle.js', ...parts]);
    expect(readFileSync(join(folder, 'machines.json'), 'utf8')).toBe('{"long.one":"long-one-1"}');
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the authorizer is a CommonJS file, and the scopes of tools', () => {
  const tools = [...manifest.tools, { ...manifest.tools[0], name: 'deploy', scopes: ['ops:deploy'] } as ToolEntry];
  bundleAuthorizer(tools, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js', 'scopes.json']);
    expect(readFileSync(join(folder, 'scopes.json'), 'utf8')).toBe('{"deploy":["ops:deploy"]}');
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the validators of the endpoint need nothing that does not lie beside them', () => {
  const properties = { name: { type: 'string', maxLength: 2 }, list: { type: 'array', uniqueItems: true } };
  const tool = { ...manifest.tools[0], inputSchema: { type: 'object', properties } } as ToolEntry;
  bundleEndpoint({ ...manifest, tools: [tool] }, (folder) => {
    const code = `const { inputs } = require(process.argv[1]);
      console.log(JSON.stringify([{ name: 'ab' }, { name: 'abc' }, { list: [{ a: 1 }, { a: 1 }] }].map((v) => inputs[0](v))))`;
    const printed = execFileSync(process.execPath, ['-e', code, join(folder, 'validators.cjs')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual([true, false, false]);
  });
});

test('the rotation of the signing key is one CommonJS file', () => {
  bundleRotation((folder) => {
    expect(readdirSync(folder)).toEqual(['index.js']);
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
