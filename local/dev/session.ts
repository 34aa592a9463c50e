import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cloud, startCloud } from '../cloud.ts';
import { readAssembly } from '../template/assembly.ts';
import { type Project, synthesize } from '../template/synth.ts';
import { type Watcher, watchFiles } from './changed-files.ts';
import { writeSessionFile } from './session-file.ts';
import type { Terminal } from './terminal.ts';
import { type ToolBuild, toolBuild, toolSources } from './tool-builds.ts';
import { typeCheck } from './type-check.ts';

export interface SessionOptions {
  readonly port: number;
  /** Keeps tasks, sessions and results from one `dev` to the next. @default for this one only */
  readonly data: string | undefined;
  readonly stack: string | undefined;
  /** For every function: where it reaches services that the embedded cloud lacks. */
  readonly variables: Readonly<Record<string, string>>;
  /** Refuses what the embedded cloud does not know, instead of leaving it alone. */
  readonly strict: boolean;
}

/** A running `dev`. */
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

/** The context by which lib/tools/tool-source.ts leaves the builds of tools to `dev`. */
const DEV = 'mcp-task-server:dev';
/** How long a restart waits for tools that run, in ms. */
const DRAIN = 10_000;

/** Runs the server of an app, and follows the changes of its files. */
export async function startSession(project: Project, options: SessionOptions, terminal: Terminal): Promise<Session> {
  const out = ownFolder(join(project.folder, 'cdk.out', 'mcp-task-server-dev'));
  const stopping = new AbortController();
  const builds = new Map<string, ToolBuild>();
  const code = new Map<string, string>();
  const redirects = new Map<string, string>();
  let assemblies = 0;
  let watcher: Watcher | undefined;

  /** Builds a tool. A build that fails keeps the last good version. */
  async function build(tool: ToolBuild): Promise<boolean> {
    const { folder, problems } = await tool.build();
    for (const problem of problems) terminal.problem(problem);
    watcher?.follow(tool.inputs());
    if (folder !== undefined) code.set(tool.source.logicalId, folder);
    return folder !== undefined;
  }
  /** Synthesizes the app beside the running one, and builds the tools that are new or built otherwise. */
  async function synthesized(): Promise<string> {
    const assembly = join(out, `assembly-${++assemblies}`);
    await synthesize({ ...project, context: { ...project.context, [DEV]: true } }, assembly, stopping.signal);
    const sources = toolSources(readAssembly(assembly));
    await Promise.all(
      sources.map(async (source) => {
        const known = builds.get(source.logicalId);
        if (JSON.stringify(known?.source) === JSON.stringify(source)) return;
        const tool = await toolBuild(source, project.folder, join(out, 'code', source.logicalId));
        if (!(await build(tool)) && known === undefined) {
          await tool.end();
          throw new Error(`the tool in ${relative(project.folder, source.entry)} cannot be built`);
        }
        builds.set(source.logicalId, tool);
        await known?.end();
      }),
    );
    for (const [logicalId, tool] of builds) {
      if (sources.some((source) => source.logicalId === logicalId)) continue;
      builds.delete(logicalId);
      await tool.end();
    }
    return assembly;
  }
  const start = async (assembly: string, port: number) => {
    const started = await startCloud({
      ...{ assembly, port, code, lenient: !options.strict, variables: options.variables, redirects },
      ...(options.stack !== undefined && { stack: options.stack }),
      dataDir: options.data ?? join(out, 'data'),
      onLog: terminal.log,
    });
    writeSessionFile(out, started);
    return started;
  };
  let assembly = await synthesized();
  let cloud: Cloud = await start(assembly, options.port);

  /** False after a restart that failed, until one succeeds. */
  let up = true;

  /** Stops the cloud, and starts it with another assembly; if that is refused, with the last good one. */
  async function restart(next: string): Promise<void> {
    const port = Number(new URL(cloud.url).port);
    const until = Date.now() + DRAIN;
    const works = () =>
      cloud.stepFunctions.executions().some(({ states, status }) => status === 'RUNNING' && states.at(-1) === 'Run');
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

  async function rebuild(files: ReadonlySet<string>): Promise<void> {
    const touched = [...builds.values()].filter(({ reads }) => [...files].some(reads));
    await Promise.all(
      touched.map(async (tool) => {
        const begun = performance.now();
        if (!(await build(tool))) return;
        // During a restart the new cloud takes the code by itself.
        if (up) cloud.redeploy(assembly, code);
        terminal.say(
          `✓ ${relative(project.folder, tool.source.entry)} rebuilt in ${Math.round(performance.now() - begun)} ms`,
        );
      }),
    );
  }
  async function resynthesize(): Promise<void> {
    const next = await synthesized();
    const { updated, refused } = up ? cloud.redeploy(next, code) : { updated: [], refused: ['the cloud is down'] };
    if (updated.length > 0)
      terminal.say(`✓ the app is synthesized again: ${plural(updated.length, 'function')} updated`);
    if (refused.length === 0) {
      assembly = next;
      return;
    }
    terminal.say(
      `the app has changed (${refused.slice(0, 3).join(', ')}${refused.length > 3 ? ', …' : ''}): restarting`,
    );
    await restart(next);
    terminal.say('✓ restarted: tasks and sessions are kept');
  }

  let work = Promise.resolve();
  let pending = false;
  const failed = (error: unknown) => {
    if (!stopping.signal.aborted) terminal.problem(error instanceof Error ? error.message : String(error));
  };
  const types = typeCheck(project.folder, terminal.problem);
  types.check();
  watcher = await watchFiles(project.folder, (files) => {
    types.check();
    const rebuilt = rebuild(files).catch(failed);
    const before = Promise.all([work, rebuilt]);
    if (pending) {
      work = before.then(() => {});
      return;
    }
    pending = true;
    work = before.then(() => {
      pending = false;
      return resynthesize().catch(failed);
    });
  });
  for (const tool of builds.values()) watcher.follow(tool.inputs());
  return {
    url: cloud.url,
    leftAlone: cloud.leftAlone,
    redirects,
    idle: () => work,
    async stop() {
      stopping.abort();
      types.stop();
      await watcher?.stop();
      await work;
      await Promise.all([...builds.values()].map((tool) => tool.end()));
      await cloud.stop();
      rmSync(out, { recursive: true, force: true });
    },
  };
}

let sessions = 0;

/** A folder for this session. Removes those of processes that are gone: another `dev` may run in the same project. */
function ownFolder(parent: string): string {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) {
    if (!isAlive(Number(name.split('-')[0]))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = join(parent, `${process.pid}-${++sessions}`);
  mkdirSync(folder);
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
