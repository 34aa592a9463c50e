import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { startCloud } from '../../../local/cloud.ts';
import { tableResource, temporaryDir, writeAssembly } from '../../../local/test/fixture.ts';
import { readJournal } from '../../../local/testing.ts';
import { type Answer, ended, modernRequest, poll } from '../../support/clients.ts';
import { smallDisk } from './small-disk.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** `npm start` on a folder, started by a shell command that ends in this one. */
function serve(data: string, assembly: string, shell = (command: string) => command) {
  const command = `exec "${process.execPath}" bin/local.ts --port 0 --assembly "${assembly}" --data "${data}"`;
  const child = spawn('sh', ['-c', shell(command)], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const err = text(child.stderr);
  const over = once(child, 'exit').then(async ([code]) => ({ code: code as number | null, err: await err }));
  const ready = (async () => {
    let out = '';
    for await (const chunk of child.stdout) {
      out += chunk;
      const url = /^ready (\S+)$/m.exec(out)?.[1];
      if (url === undefined) continue;
      child.stdout.resume();
      return url;
    }
    throw new Error(`it did not start: ${await err}`);
  })();
  ready.catch(() => undefined);
  const kill = async () => {
    child.kill('SIGKILL');
    await over;
  };
  return { ready, over, kill };
}

const OTHER = 'stop that one first, or choose another folder';
const empty = writeAssembly({ resources: { Table: tableResource() } });

describe('a full disk', () => {
  test('takes a part of a record: the records before and after it are read again', () => {
    const file = join(temporaryDir(), 'journal.jsonl');
    const script = `ulimit -f 128; exec "${process.execPath}" test/cloud/full-disk/partial-write.ts "${file}"`;
    const said = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
    expect(said).toContain(`${file} cannot be written: EFBIG: file too large`);
    expect(said).toContain('Make room');
    expect(readFileSync(file).includes(0)).toBe(false);
    const { running, cut } = readJournal(file);
    expect(running.map(({ started, called }) => [started.execution, called.size])).toEqual([
      [1, 1],
      [3, 0],
    ]);
    expect(cut).toBeUndefined();
  });

  test('ends the process; after a restart every acknowledged task is in its right state', async () => {
    const mounted = temporaryDir();
    const folder = join(mounted, 'data');
    const disk = smallDisk(mounted);
    onTestFinished(disk.remove);
    const small = serve(folder, inject('assembly'), disk.shell);
    const url = await small.ready;
    const filler = 'x'.repeat(20_000);
    const acknowledged: { id: string; n: number; asks: boolean }[] = [];
    const seen = new Map<string, Answer['body']>();
    const call = async (n: number) => {
      const asks = n % 3 === 0;
      const [name, args] = asks ? ['ask', { filler }] : ['echo', { n, filler }];
      const { body } = await modernRequest(url, 'tools/call', { name, arguments: args });
      if (body.result?.taskId === undefined) return;
      acknowledged.push({ id: body.result.taskId, n, asks });
      const task = await modernRequest(url, 'tasks/get', { taskId: body.result.taskId });
      if (ended(task.body.result)) seen.set(body.result.taskId, task.body.result);
    };
    const full = small.over;
    let over = false;
    void full.then(() => (over = true));
    for (let n = 0; !over && n < 400; n += 4) {
      await Promise.allSettled([n, n + 1, n + 2, n + 3].map(call));
    }
    const { code, err } = await full;
    expect(err).toContain('cannot be written');
    expect(err).toContain('Make room (or make the folder writable), then start again with the same --data.');
    expect(err).not.toContain('    at ');
    expect(code).toBe(1);
    expect(acknowledged.length).toBeGreaterThan(5);

    disk.grow();
    const again = serve(folder, inject('assembly'));
    const after = await again.ready;
    for (const { id, n, asks } of acknowledged) {
      const task = await poll(after, id, ({ status }) => status !== 'working');
      const before = seen.get(id);
      if (before !== undefined) expect(task).toEqual({ ...before, pollIntervalMs: task.pollIntervalMs });
      // A tool that may not be repeated was in a worker at that moment: its effect is unknown.
      const interrupted = task.status === 'failed' && task.error.data.reason === 'Runtime.ExitError';
      if (interrupted) continue;
      if (asks) expect(task).toMatchObject({ status: 'input_required' });
      else expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { n } } });
    }
    await again.kill();
  });

  test('at the start says so, and starts nothing', async () => {
    const folder = join(temporaryDir(), 'data');
    const first = serve(folder, inject('assembly'));
    await first.ready;
    await first.kill();
    const { code, err } = await serve(folder, inject('assembly'), (command) => `ulimit -f 0; ${command}`).over;
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be written')]);
    await serve(folder, inject('assembly')).ready;
  });
});

test('a journal with a broken last line is served, and a message names the cut', async () => {
  const dataDir = temporaryDir();
  await (await startCloud({ assembly: empty, dataDir })).stop();
  appendFileSync(join(dataDir, 'step-functions.jsonl'), '{"type":"star');
  const said: string[] = [];
  const cloud = await startCloud({ assembly: empty, dataDir, onLog: (_source, line) => said.push(line) });
  await cloud.stop();
  expect(said).toEqual([expect.stringMatching(/jsonl: line 1, the last one, is broken and is left out \(13 bytes\)$/)]);
});

describe('a data folder', () => {
  test('becomes private to its owner, new or open to others before', async () => {
    const dataDir = join(temporaryDir(), 'new');
    await (await startCloud({ assembly: empty, dataDir })).stop();
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    chmodSync(dataDir, 0o755);
    await (await startCloud({ assembly: empty, dataDir })).stop();
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  test('that all users share, such as /tmp, is refused and not changed', async () => {
    const dataDir = join(temporaryDir(), 'shared');
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o1777);
    await expect(startCloud({ assembly: empty, dataDir })).rejects.toThrow('choose a folder of your own');
    expect(statSync(dataDir).mode & 0o7777).toBe(0o1777);
  });

  test('has one process: a second one is refused and harms nothing; kill -9 frees it', async () => {
    const data = join(temporaryDir(), 'data');
    const first = serve(data, inject('assembly'));
    const url = await first.ready;
    const second = await serve(data, inject('assembly')).over;
    expect(second).toEqual({ code: 1, err: `${data} is in use by another embedded cloud: ${OTHER}\n` });
    expect((await fetch(url)).status).toBe(405);
    const third = await serve(data, inject('assembly')).over;
    expect(third.code).toBe(1);
    await first.kill();
    await serve(data, inject('assembly')).ready;
  });

  test('has one process also where another container has the same process ids', async () => {
    const data = join(temporaryDir(), 'data');
    const first = serve(data, inject('assembly'));
    await first.ready;
    // A file of an earlier version in the folder does not count.
    rmSync(join(data, 'lock'), { force: true });
    const isolated = (command: string) => `unshare --pid --fork --mount-proc sh -c '${command}'`;
    try {
      execFileSync('sh', ['-c', isolated('true')], { stdio: 'ignore' });
    } catch {
      return;
    }
    expect((await serve(data, inject('assembly'), isolated).over).err).toContain('is in use by another embedded cloud');
  });
});
