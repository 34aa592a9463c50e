import { existsSync, globSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runTasks } from '../../bin/tasks/index.ts';
import { startSession } from '../../local/dev/session.ts';
import { readProject } from '../../local/testing.ts';
import { modernRequest } from '../support/clients.ts';
import { APP, developed, tool } from './developed.ts';

const { folder, write, printer, options, session, call, started, descriptions, until } = developed();

test('the verbs find it from the folder of the project and below, and only as its user', async () => {
  const printed_: string[] = [];
  const terminal_ = {
    out: (text: string) => void printed_.push(text),
    err: (text: string) => void printed_.push(text),
    ...{ env: {}, folder: join(folder, 'node_modules') },
  };
  expect(await runTasks(['list'], terminal_)).toBe(0);
  expect(printed_).toEqual(['No task.\n']);
  const files = globSync('cdk.out/mcp-task-server-dev/*/server.json', { cwd: folder });
  expect(files).toHaveLength(1);
  expect(statSync(join(folder, files[0] ?? '')).mode & 0o777).toBe(0o600);
  expect(await runTasks(['list'], { ...terminal_, folder: '/' })).toBe(2);
  expect(printed_.join('')).toContain("No 'mcp-task-server dev' runs in this folder");
});

test('an app with a network and a user pool starts, and lists what it leaves alone', () => {
  const services = Object.fromEntries(session().leftAlone);
  expect(services).toEqual({ 'AWS::EC2': 17, 'AWS::Cognito': 1 });
});

test('with --strict the same app is refused, each resource by name', async () => {
  const strict = startSession(readProject(folder), { ...options, strict: true }, printer);
  await expect(strict).rejects.toThrow(/does not know AWS::EC2::VPC .*Shop\/Network/);
});

test('a path may lead elsewhere, as /_tasks to the page, for names of this machine only', async () => {
  session().redirects.set('/_tasks', 'http://127.0.0.1:1/token/');
  const { status, headers } = await fetch(`${session().url}/_tasks`, { redirect: 'manual' });
  expect({ status, location: headers.get('location') }).toEqual({ status: 302, location: 'http://127.0.0.1:1/token/' });
  expect((await fetch(`${session().url}/_tasks`, { method: 'POST' })).status).toBe(403);
  session().redirects.clear();
  expect((await fetch(`${session().url}/_tasks`)).status).toBe(403);
});

test('a second dev in the same folder leaves the first one alone', async () => {
  const second = await startSession(readProject(folder), options, printer);
  await second.stop();
  expect(await call()).toBe('hello, world');
});

describe('a saved tool', () => {
  test('runs without a restart; a call that runs meanwhile ends on the old code', async () => {
    expect(await call()).toBe('hello, world');
    const begun = join(mkdtempSync(join(tmpdir(), 'mcp-dev-')), 'begun');
    const begin = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(begun)}, '')`;
    write('hello.ts', tool(`(${begin}, new Promise((done) => setTimeout(() => done('slow'), 1500)))`));
    await until(/hello\.ts rebuilt in \d+ ms/);
    const slow = call();
    await expect.poll(() => existsSync(begun)).toBe(true);
    write('hello.ts', tool("'hello again'"));
    await until(/hello\.ts rebuilt in \d+ ms/);
    expect(await call()).toBe('hello again');
    expect(await slow).toBe('slow');
  });

  test('that cannot be built keeps the last version; the terminal names file and line', async () => {
    write('hello.ts', tool("'unclosed"));
    expect(await until(/✗/)).toMatch(/✗ hello\.ts:3:\d+: Unterminated string literal/);
    expect(await call()).toBe('hello again');
  });

  test('saved twice in a moment: the last version counts', async () => {
    write('hello.ts', tool("'first'"));
    await sleep(60);
    write('hello.ts', tool("'second'"));
    await expect.poll(() => call()).toBe('second');
    await session().idle();
    expect(await call()).toBe('second');
  });

  test('of another file: the app says so, and the other file answers', async () => {
    write('other.ts', tool("'other'"));
    write('app.ts', APP.replace("entry: 'hello.ts'", "entry: 'other.ts'"));
    await expect.poll(() => call()).toBe('other');
    write('app.ts', APP);
    await expect.poll(() => call()).toBe('second');
  });

  test('follows what it is built from: a file outside the folder, and one that a loader reads', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'mcp-shared-'));
    const shared = (text: string) => writeFileSync(join(outside, 'shared.ts'), `export const shared = '${text}';\n`);
    shared('one');
    write('query.sql', 'select 1');
    write(
      'hello.ts',
      `import { shared } from '${outside}/shared.ts';\nimport query from './query.sql';\n${tool('shared + query')}`,
    );
    await expect.poll(() => call()).toBe('oneselect 1');
    await session().idle();
    shared('two');
    await expect.poll(() => call()).toBe('twoselect 1');
    write('query.sql', 'select 2');
    await expect.poll(() => call()).toBe('twoselect 2');
    rmSync(outside, { recursive: true });
  });

  test('that throws: the terminal shows its own file and line', async () => {
    write('hello.ts', tool("{ throw new TypeError('Database is down') }"));
    await until(/rebuilt/);
    await expect(call()).rejects.toThrow('The tool failed');
    const printed = await until(/Database/);
    expect(printed).toMatch(/Hello.* │ ✗ TypeError: Database is down\n\s+at .*hello\.ts:3:\d+/);
    expect(printed).not.toMatch(/worker|node:internal/);
  });
});

describe('a change of the app', () => {
  test('of a description alone is deployed beside the running app', async () => {
    write('app.ts', APP.replace('Says hello', 'Greets'));
    await until(/synthesized again: 1 function updated/);
    await session().idle();
    expect(await descriptions()).toContain('Greets');
  });

  test('that needs another cloud restarts it, with its tasks', async () => {
    write('hello.ts', tool("'kept'"));
    await until(/rebuilt/);
    const schema = `inputSchema: { type: 'object' }, taskSupport: 'optional'`;
    write('app.ts', `${APP}\nserver.addTool('slow', { description: 'slow', ${schema}, handler });`);
    await until(/restarted: tasks and sessions are kept/);
    const before = await started('slow');
    write(
      'app.ts',
      `${APP}\nserver.addTool('slow', { description: 'slower', ${schema}, handler });\nserver.addTool('next', { description: 'next', ${schema}, handler });`,
    );
    await until(/restarted: tasks and sessions are kept/);
    expect(await descriptions()).toContain('slower');
    const { body } = await modernRequest(`${session().url}/mcp`, 'tasks/get', { taskId: before });
    expect(body.result).toMatchObject({ status: 'completed' });
    expect(await call()).toBe('kept');
  });

  test('that the cloud refuses leaves the last good one running, and the terminal says why', async () => {
    const refused = `
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
const role = new Role(stack, 'Wrong', { assumedBy: new ServicePrincipal('s3.amazonaws.com') });
const definitionBody = DefinitionBody.fromString('{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}');
const stateMachine = new StateMachine(stack, 'Machine', { definitionBody, role: role.withoutPolicyUpdates() });
server.addTool('machine', { description: 'm', inputSchema: { type: 'object' }, stateMachine });`;
    write('app.ts', APP + refused);
    expect(await until(/✗/)).toMatch(/may not assume the role/);
    expect(await call()).toBe('kept');
  });

  test('that does not run leaves the running app unchanged, and the terminal says why', async () => {
    write('app.ts', APP.replace('new App()', 'new Ap()'));
    expect(await until(/✗/)).toMatch(/Ap is not defined/);
    expect(await call()).toBe('kept');
  });

  test('that imports a missing file is reported by both files, without lines of Node', async () => {
    write('app.ts', `${APP}\nimport './no-such-file.ts';`);
    const printed = await until(/✗/);
    expect(printed).toMatch(/Cannot find module '.*no-such-file\.ts' imported from .*app\.ts/);
    expect(printed).not.toContain('node:internal');
  });

  test('that names a missing file of a tool is reported by its path', async () => {
    write('app.ts', APP.replace("entry: 'hello.ts'", "entry: 'no-such-tool.ts'"));
    await until(/✗ Could not resolve ".*no-such-tool\.ts"/);
    write('app.ts', APP);
    await sleep(500);
  });
});
