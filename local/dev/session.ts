import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cloud, startCloud } from '../cloud.ts';
import { messageOf, refusedToolLine } from '../command.ts';
import { lockDataDir } from '../disk/data-dir.ts';
import { replaceFile } from '../disk/disk.ts';
import { checkPort } from '../loopback.ts';
import { DEV_CONTEXT, RECEIVERS_HERE, RUN_STATE } from '../marks.ts';
import { type Project, synthesize } from '../template/synth.ts';
import { watchFiles } from './changed-files.ts';
import type { Terminal } from './terminal.ts';
import { NotBuilt, toolCode } from './tool-code.ts';
import { typeCheck } from './type-check.ts';

export interface SessionOptions {
  readonly port: number;
  /** The folder that keeps tasks, sessions and results from one `dev` to the next. @default nothing is kept */
  readonly data: string | undefined;
  readonly stack: string | undefined;
  /** Variables for every function: where it reaches services that the embedded cloud lacks. */
  readonly variables: Readonly<Record<string, string>>;
  /** Refuses what the embedded cloud does not know, instead of leaving it alone. */
  readonly strict: boolean;
}

export interface Session {
  readonly url: string;
  /** How many resources are left alone, by service. */
  readonly leftAlone: ReadonlyMap<string, number>;
  /** Paths of the server that lead elsewhere, to URLs: a GET is answered with a redirect. */
  readonly redirects: Map<string, string>;
  /** Resolves when all changes so far are built, synthesized and deployed. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a restart waits for tools that run, in ms. */
const DRAIN = 10_000;

/**
 * Runs the server of an app, and follows the changes of its files. If the app does not start, waits for a save that
 * mends it, unless `strict`.
 *
 * @param signal ends the start: then it rejects
 */
export async function startSession(
  project: Project,
  options: SessionOptions,
  terminal: Terminal,
  signal?: AbortSignal,
): Promise<Session> {
  await checkPortAndData(options);
  const out = ownFolder(join(project.folder, 'cdk.out', 'mcp-task-server-dev'));
  const stopping = new AbortController();
  const ended = once(stopping.signal, 'abort');
  signal?.addEventListener('abort', () => stopping.abort(signal.reason), { once: true });
  const redirects = new Map<string, string>();
  let assemblies = 0;
  let onSave: (files: ReadonlySet<string>) => void = () => {};
  const watcher = await watchFiles(project.folder, (files) => onSave(files));
  const { follow } = watcher;
  const tools = toolCode({ folder: project.folder, out: join(out, 'code'), terminal, follow });
  const code = tools.folders;

  /** Synthesizes the app beside the running one, and builds the tools that are new or have other build options. */
  async function synthesized(): Promise<string> {
    const assembly = join(out, `assembly-${++assemblies}`);
    await synthesize({ ...project, context: { ...project.context, [DEV_CONTEXT]: true } }, assembly, stopping.signal);
    await tools.take(assembly);
    return assembly;
  }
  const start = async (assembly: string, port: number) => {
    const started = await startCloud({
      assembly,
      port,
      code,
      lenient: !options.strict,
      variables: { ...RECEIVERS_HERE, ...options.variables },
      redirects,
      ...(options.stack !== undefined && { stack: options.stack }),
      dataDir: options.data ?? join(out, 'data'),
      onLog: terminal.log,
    });
    // `mcp-task-server tasks` in the same folder reads where this `dev` listens. Its endpoint lets every caller do everything.
    const { endpoint, region, stacks, url } = started;
    replaceFile(join(out, 'server.json'), JSON.stringify({ pid: process.pid, endpoint, region, stacks, url }));
    return started;
  };
  const show = (error: unknown) => {
    if (!stopping.signal.aborted && !(error instanceof NotBuilt)) terminal.problem(messageOf(error));
  };
  /** Tries again at each save. Shows an error that stays the same only once: an app that compiles itself saves files, too. */
  async function firstStart(): Promise<{ assembly: string; cloud: Cloud }> {
    for (let said = ''; ; ) {
      const saved = Promise.withResolvers<void>();
      onSave = () => saved.resolve();
      try {
        const assembly = await synthesized();
        return { assembly, cloud: await start(assembly, options.port) };
      } catch (error) {
        if (options.strict || stopping.signal.aborted) throw error;
        if (messageOf(error) !== said) {
          show(error);
          terminal.say('the app does not run yet: save a file to try again');
        }
        said = messageOf(error);
      }
      await tools.end();
      await Promise.race([saved.promise, ended]);
      stopping.signal.throwIfAborted();
    }
  }
  const clear = async () => {
    await watcher.stop();
    await tools.end();
    rmSync(out, { recursive: true, force: true });
  };
  let { assembly, cloud } = await firstStart().catch(async (error: unknown) => {
    await clear();
    throw error;
  });

  let refused: ReadonlyMap<string, string> = new Map();
  /** Says of each tool once that it cannot run here, and why. */
  function sayRefused(): void {
    const now = cloud.refusedTools();
    for (const [tool, why] of now) {
      if (refused.get(tool) !== why) terminal.problem(refusedToolLine(tool, why));
    }
    refused = now;
  }
  sayRefused();

  /** False after a restart that failed, until one succeeds. */
  let up = true;

  /** Stops the cloud, and starts it with another assembly; if that is refused, with the last good one. */
  async function restart(next: string): Promise<void> {
    const port = Number(new URL(cloud.url).port);
    const until = Date.now() + DRAIN;
    const works = () =>
      cloud.stepFunctions
        .executions()
        .some(({ states, status }) => status === 'RUNNING' && states.at(-1) === RUN_STATE);
    while (up && works() && Date.now() < until && !stopping.signal.aborted) await sleep(50);
    if (stopping.signal.aborted) return;
    if (up) await cloud.stop();
    up = false;
    try {
      cloud = await start(next, port);
      assembly = next;
    } catch (error) {
      cloud = await start(assembly, port);
      throw error;
    } finally {
      up = await answers(cloud.url);
    }
  }

  /** Whether the app as it was saved last does not run. */
  let appFails = false;

  async function resynthesize(): Promise<void> {
    const next = await synthesized();
    const { updated, refused: others } = up
      ? cloud.redeploy(next, code)
      : { updated: [], refused: ['the cloud is down'] };
    if (updated.length > 0)
      terminal.say(`✓ the app is synthesized again: ${plural(updated.length, 'function')} updated`);
    if (others.length === 0) assembly = next;
    else {
      terminal.say(
        `the app has changed (${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}): restarting`,
      );
      await restart(next);
      terminal.say('✓ restarted: tasks and sessions are kept');
    }
    if (appFails && updated.length + others.length === 0) terminal.say('✓ the app runs as before');
    appFails = false;
    sayRefused();
  }

  let work: Promise<unknown> = Promise.resolve();
  const types = typeCheck(project.folder, terminal.problem, async () => {
    await work;
    return appFails || tools.fail();
  });
  types.check();
  /** Whether a file was saved since the last synthesis. */
  let changed = false;
  onSave = (files) => {
    types.check();
    changed = true;
    // During a restart the new cloud takes the code by itself.
    const deploy = () => up && cloud.redeploy(assembly, code);
    const rebuilt = tools.rebuild(files, deploy).catch(show);
    work = Promise.all([work, rebuilt]).then(async ([, built]) => {
      // One error is enough: an app that imports the tool fails with the same one. The next save synthesizes.
      if (built !== true || !changed) return;
      changed = false;
      await resynthesize().catch((error: unknown) => {
        appFails = true;
        show(error);
      });
    });
  };
  return {
    url: cloud.url,
    leftAlone: cloud.leftAlone,
    redirects,
    async idle() {
      await work;
    },
    async stop() {
      stopping.abort();
      types.stop();
      await watcher.stop();
      await work;
      await cloud.stop();
      await clear();
    },
  };
}

/** Rejects a used port or data folder now, rather than after some seconds of synthesis: no save can help. */
async function checkPortAndData({ port, data }: SessionOptions): Promise<void> {
  await checkPort(port);
  if (data !== undefined) await (await lockDataDir(data))();
}

/** The folders of this process. Any other folder with its pid is from a `dev` that is gone: containers use pids again. */
const own = new Set<string>();

/**
 * Makes a folder for this session, which other users can neither read nor write: `tasks` trusts its content. Removes the
 * folders of processes that are gone. Another `dev` may run in the same project.
 */
function ownFolder(parent: string): string {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) {
    const [pid] = name.split('-').map(Number);
    const isGone = pid === process.pid ? !own.has(join(parent, name)) : !isAlive(pid ?? 0);
    if (isGone) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = join(parent, `${process.pid}-${own.size + 1}`);
  own.add(folder);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
