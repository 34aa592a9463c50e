import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ToolEntry } from '../../../functions/mcp/manifest.ts';
import { Auth } from '../../../lib/auth/auth.ts';
import { bundle, bundleAuthorizer, bundleEndpoint, bundleReconciler } from '../../../lib/bundles.ts';

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
  const names = ['TASKS_TABLE', 'RESULTS_BUCKET', 'SIGNING_KEY_SECRET', 'MACHINE_ARN_PREFIX', 'TOOL_FUNCTIONS', 'SERVER_NAME', 'ISSUER', 'AUDIENCE', 'CHECKS_PER_SECOND'];
  for (const name of names) process.env[name] = 'named';
  const { handler } = require(process.argv[1]);
  const list = process.moduleLoadList.filter((name) => /undici/.test(name));
  console.log(JSON.stringify({ handler: typeof handler, undici: list }));`;

test('the endpoint: bundle, manifest, validators, clients for later; none loads undici', () => {
  bundleEndpoint(manifest, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js', 'manifest.json', 'mcp-task-server-aws', 'validators.cjs']);
    expect(readdirSync(join(folder, 'mcp-task-server-aws'))).toEqual([
      'lambda.js',
      's3-files.js',
      's3.js',
      'secrets-manager.js',
    ]);
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toEqual(manifest);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the reconciler: bundle, workflows of task-capable tools only', () => {
  const tools = [...manifest.tools, { ...manifest.tools[0], name: 'long.one', engine: 'standard' } as ToolEntry];
  bundleReconciler(tools, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js', 'mcp-task-server-aws', 'tools.json']);
    const known = [{ name: 'long.one', engine: 'standard', repeatable: false }];
    expect(JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8'))).toEqual(known);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('the authorizer is a CommonJS file, and the scopes of tools', () => {
  const tools = [...manifest.tools, { ...manifest.tools[0], name: 'deploy', scopes: ['ops:deploy'] } as ToolEntry];
  const auth = Auth.oauth({ issuer: 'https://login.example', audience: 'a' });
  bundleAuthorizer(tools, auth, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js', 'scopes.json']);
    expect(readFileSync(join(folder, 'scopes.json'), 'utf8')).toBe('{"deploy":["ops:deploy"]}');
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('only the authorizer of an issuer on this machine can fetch without TLS', () => {
  const codeOf = (issuer: string, more = {}) =>
    bundleAuthorizer(manifest.tools, Auth.oauth({ issuer, audience: 'a', ...more }), (folder) =>
      readFileSync(join(folder, 'index.js'), 'utf8'),
    );
  const fetches = /\bfetch\([\w$]+,\{redirect:/;
  expect(codeOf('https://login.example')).not.toMatch(fetches);
  expect(codeOf('http://localhost:8080')).toMatch(fetches);
  expect(codeOf('https://login.example', { jwksUri: 'http://127.0.0.1:1/keys' })).toMatch(fetches);
});

test('the validators of the endpoint need only files beside them', () => {
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
  bundle('rotation', {}, (folder) => {
    expect(readdirSync(folder)).toEqual(['index.js']);
    const printed = execFileSync(process.execPath, ['-e', probe, join(folder, 'index.js')], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ handler: 'function', undici: [] });
  });
});

test('a function of the server removes --expose-gc before it loads anything', () => {
  bundle('rotation', {}, (folder) => {
    const code = `${probe}
      console.log(require('node:vm').runInNewContext('typeof gc'), typeof gc);`;
    const args = ['--expose-gc', '-e', code, join(folder, 'index.js')];
    const printed = execFileSync(process.execPath, args, { encoding: 'utf8' });
    expect(printed.trim().split('\n').at(-1)).toBe('undefined function');
    expect(readFileSync(join(folder, 'index.js'), 'utf8')).toMatch(/^"use strict";globalThis\.gc&&/);
  });
});

test('the probe does see undici when it is loaded', () => {
  const printed = execFileSync(process.execPath, ['-e', `new Request('http://a'); ${probe}`, 'node:path'], {
    encoding: 'utf8',
  });
  expect(JSON.parse(printed).undici.length).toBeGreaterThan(0);
});
