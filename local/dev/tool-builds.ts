import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildFailure, type BuildOptions, context } from 'esbuild';
import { objectOf, stringOf } from '../json.ts';
import { SOURCE_MARK } from '../marks.ts';
import type { Stack } from '../template/assembly.ts';
import { real } from './changed-files.ts';

/** A function that `dev` builds itself: its file, and the options of esbuild. */
export interface ToolSource {
  readonly logicalId: string;
  readonly entry: string;
  readonly options: BuildOptions;
}

export function toolSources(stacks: readonly Stack[]): ToolSource[] {
  return stacks.flatMap(({ template }) =>
    Object.entries(template.Resources).flatMap(([logicalId, { Metadata }]) => {
      const { entry, options } = objectOf(objectOf(Metadata)[SOURCE_MARK]);
      const file = stringOf(entry);
      return file === undefined ? [] : [{ logicalId, entry: file, options: objectOf(options) as BuildOptions }];
    }),
  );
}

/** The result of a build. `folder` holds the code; undefined if the build failed. */
interface Built {
  readonly folder?: string;
  /** One line each, with file, line and column. */
  readonly problems: readonly string[];
}

export type ToolBuild = Awaited<ReturnType<typeof toolBuild>>;

/**
 * Builds one function many times: esbuild keeps what it has parsed.
 *
 * @param outDir gets one folder for each build: workers that still run read an older one
 */
export async function toolBuild(source: ToolSource, root: string, outDir: string) {
  const esbuild = await context({
    ...source.options,
    entryPoints: [source.entry],
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    minify: false,
    sourcemap: 'inline',
    // As deep as the folders of the builds: the source map has relative paths.
    outfile: join(outDir, 'build', 'index.js'),
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  let files = new Set([real(source.entry)]);
  /** Whether the last build failed: then a new file may be the one that was missing. */
  let failed = false;
  let last: Promise<unknown> = Promise.resolve();
  async function build(): Promise<Built> {
    try {
      const { outputFiles = [], metafile } = await esbuild.rebuild();
      files = new Set(Object.keys(metafile?.inputs ?? {}).map((file) => real(resolve(root, file))));
      const folder = join(outDir, String(++builds));
      mkdirSync(folder, { recursive: true });
      for (const { contents } of outputFiles.slice(0, 1)) writeFileSync(join(folder, 'index.js'), contents);
      failed = false;
      return { folder, problems: [] };
    } catch (error) {
      const { errors = [] } = error as Partial<BuildFailure>;
      if (errors.length === 0) throw error;
      for (const { location } of errors) if (location) files.add(real(resolve(root, location.file)));
      failed = true;
      return { problems: errors.map(({ text, location }) => `${placeOf(location)}${text}`) };
    }
  }
  return {
    source,
    build() {
      // One after the other: esbuild would answer a second build with the first one, which may have read older files.
      const next = last.then(build);
      last = next.catch(() => undefined);
      return next;
    },
    inputs: (): ReadonlySet<string> => files,
    reads: (file: string) => files.has(real(file)) || (failed && !files.has(file)),
    async end() {
      await last;
      await esbuild.dispose();
    },
  };
}

/** Numbers the builds of all tools, so that no folder is written twice. */
let builds = 0;

function placeOf(location: { file: string; line: number; column: number } | null): string {
  return location === null ? '' : `${location.file}:${location.line}:${location.column + 1}: `;
}
