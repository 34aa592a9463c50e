import { join, relative } from 'node:path';
import { readAssembly } from '../template/assembly.ts';
import { real } from './changed-files.ts';
import type { Terminal } from './terminal.ts';
import { type ToolBuild, toolBuild, toolSources } from './tool-builds.ts';

/** A tool cannot be built. The terminal has shown why. */
export class NotBuilt extends Error {
  constructor(file: string) {
    super(`the tool in ${file} cannot be built`);
    this.name = 'NotBuilt';
  }
}

interface ToolCodeOptions {
  readonly folder: string;
  readonly out: string;
  readonly terminal: Terminal;
  /** Gets the files that a build has read. */
  readonly follow: (inputs: Iterable<string>) => void;
}

export function toolCode({ folder, out, terminal, follow }: ToolCodeOptions) {
  const builds = new Map<string, ToolBuild>();
  const folders = new Map<string, string>();
  /** The problems of builds that failed. */
  const failed = new Map<ToolBuild, string>();

  /** A build that fails keeps the last good version. */
  async function build(tool: ToolBuild, saved: boolean): Promise<'built' | 'shown' | 'as before'> {
    const built = await tool.build();
    follow(tool.inputs());
    if (built.folder !== undefined) {
      failed.delete(tool);
      folders.set(tool.source.logicalId, built.folder);
      return 'built';
    }
    const problems = built.problems.join('\n');
    if (!saved && failed.get(tool) === problems) return 'as before';
    failed.set(tool, problems);
    for (const problem of built.problems) terminal.problem(problem);
    return 'shown';
  }

  return {
    /** The folders of the code, by the logical id of the function. */
    folders: folders as ReadonlyMap<string, string>,
    /** Builds the tools that are new or have other build options. Throws NotBuilt if a new tool cannot be built. */
    async take(assembly: string): Promise<void> {
      const sources = toolSources(readAssembly(assembly));
      await Promise.all(
        sources.map(async (source) => {
          const known = builds.get(source.logicalId);
          if (JSON.stringify(known?.source) === JSON.stringify(source)) return;
          const tool = await toolBuild(source, folder, join(out, source.logicalId));
          if ((await build(tool, true)) !== 'built' && known === undefined) {
            failed.delete(tool);
            await tool.end();
            throw new NotBuilt(relative(folder, source.entry));
          }
          builds.set(source.logicalId, tool);
          if (known !== undefined) failed.delete(known);
          await known?.end();
        }),
      );
      for (const [logicalId, tool] of builds) {
        if (sources.some((source) => source.logicalId === logicalId)) continue;
        builds.delete(logicalId);
        failed.delete(tool);
        await tool.end();
      }
    },
    /**
     * Builds the tools that read these files. Resolves with false if it has shown a problem. A problem that another saved
     * file does not change is shown once.
     *
     * @param deploy is called after each build
     */
    async rebuild(files: ReadonlySet<string>, deploy: () => void): Promise<boolean> {
      const touched = [...builds.values()].filter(({ reads }) => [...files].some(reads));
      const results = await Promise.all(
        touched.map(async (tool) => {
          const begun = performance.now();
          const saved = [...files].some((file) => tool.inputs().has(real(file)));
          const result = await build(tool, saved);
          if (result !== 'built') return result;
          deploy();
          const ms = Math.round(performance.now() - begun);
          terminal.say(`✓ ${relative(folder, tool.source.entry)} rebuilt in ${ms} ms`);
          return result;
        }),
      );
      return !results.includes('shown');
    },
    /** Whether the last build of any tool failed. */
    fail: () => failed.size > 0,
    async end(): Promise<void> {
      const ending = [...builds.values()];
      for (const map of [builds, folders, failed]) map.clear();
      await Promise.all(ending.map((tool) => tool.end()));
    },
  };
}
