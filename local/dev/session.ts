import { mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cloud, startCloud } from '../cloud.ts';
import { readAssembly } from '../template/assembly.ts';
import { watchFiles } from './changed-files.ts';
import { type Project, synthesize } from './project.ts';
import type { Terminal } from './terminal.ts';
import { type ToolBuild, toolBuild, toolSources } from './tool-builds.ts';

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
  /** Resolves when all changes so far are built, synthesized and deployed. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a restart waits for tools that run, in ms. */
const DRAIN = 10_000;

/** Runs the server of an app, and follows the changes of its files. */
export async function startSession(project: Project, options: SessionOptions, terminal: Terminal): Promise<Session> {
  const out = join(project.folder, 'cdk.out', 'mcp-task-server-dev');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const stopping = new AbortController();
  const builds = new Map<string, ToolBuild>();
  const code = new Map<string, string>();
  let assemblies = 0;

  /** Builds a tool. A build that fails keeps the last good version. */
  async function build(tool: ToolBuild): Promise<boolean> {
    const { folder, problems } = await tool.build();
    for (const problem of problems) terminal.problem(problem);
    if (folder !== undefined) code.set(tool.source.logicalId, folder);
    return folder !== undefined;
  }
  /** Synthesizes the app beside the running one, and builds the tools that are new or built otherwise. */
  async function synthesized(): Promise<string> {
    const assembly = join(out, `assembly-${++assemblies}`);
    await synthesize(project, assembly, stopping.signal);
    await Promise.all(
      toolSources(readAssembly(assembly)).map(async (source) => {
        const known = builds.get(source.logicalId);
        if (JSON.stringify(known?.source) === JSON.stringify(source)) return;
        await known?.end();
        const tool = await toolBuild(source, project.folder, join(out, 'code', source.logicalId));
        builds.set(source.logicalId, tool);
        if (!(await build(tool)) && known === undefined) {
          throw new Error(`the tool in ${relative(project.folder, source.entry)} cannot be built`);
        }
      }),
    );
    return assembly;
  }
  const start = (assembly: string, port: number) =>
    startCloud({
      ...{ assembly, port, code, lenient: !options.strict, variables: options.variables },
      ...(options.stack !== undefined && { stack: options.stack }),
      dataDir: options.data ?? join(out, 'data'),
      onLog: terminal.log,
    });
  let assembly = await synthesized();
  let cloud: Cloud = await start(assembly, options.port);

  async function restart(): Promise<void> {
    const port = Number(new URL(cloud.url).port);
    const until = Date.now() + DRAIN;
    while (
      Date.now() < until &&
      cloud.stepFunctions.executions().some(({ states, status }) => status === 'RUNNING' && states.at(-1) === 'Run')
    ) {
      await sleep(50);
    }
    await cloud.stop();
    cloud = await start(assembly, port);
  }

  async function rebuild(files: ReadonlySet<string>): Promise<void> {
    const touched = [...builds.values()].filter(({ reads }) => [...files].some(reads));
    await Promise.all(
      touched.map(async (tool) => {
        const begun = performance.now();
        if (!(await build(tool))) return;
        cloud.redeploy(assembly, code);
        terminal.say(
          `✓ ${relative(project.folder, tool.source.entry)} rebuilt in ${Math.round(performance.now() - begun)} ms`,
        );
      }),
    );
  }
  async function resynthesize(): Promise<void> {
    assembly = await synthesized();
    const { updated, refused } = cloud.redeploy(assembly, code);
    if (updated.length > 0)
      terminal.say(`✓ the app is synthesized again: ${plural(updated.length, 'function')} updated`);
    if (refused.length === 0) return;
    terminal.say(
      `the app has changed (${refused.slice(0, 3).join(', ')}${refused.length > 3 ? ', …' : ''}): restarting`,
    );
    await restart();
    terminal.say('✓ restarted: tasks and sessions are kept');
  }

  let work = Promise.resolve();
  let pending = false;
  const failed = (error: unknown) => {
    if (!stopping.signal.aborted) terminal.problem(error instanceof Error ? error.message : String(error));
  };
  const watcher = await watchFiles(project.folder, (files) => {
    const rebuilt = rebuild(files).catch(failed);
    if (pending) return;
    pending = true;
    work = Promise.all([work, rebuilt]).then(() => {
      pending = false;
      return resynthesize().catch(failed);
    });
  });
  return {
    url: cloud.url,
    leftAlone: cloud.leftAlone,
    idle: () => work,
    async stop() {
      stopping.abort();
      await watcher.stop();
      await work;
      await Promise.all([...builds.values()].map((tool) => tool.end()));
      await cloud.stop();
      if (options.data === undefined) rmSync(join(out, 'data'), { recursive: true, force: true });
    },
  };
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
