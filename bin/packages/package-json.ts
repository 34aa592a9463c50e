import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a package.json of this repository says, as far as its users need it. */
interface Source {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** In a published package. */
export interface Entry {
  readonly types: string;
  readonly require?: string;
  readonly default: string;
}

export interface Published extends Readonly<Record<string, unknown>> {
  readonly exports?: Readonly<Record<string, Entry>>;
}

const KEPT = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'type',
  'sideEffects',
  'engines',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
];

/**
 * The package.json to publish of the one in `folder`, whose `exports` and `bin` name sources. `commonJs`: whether each
 * entry is there for `require`, too.
 */
export function packageJson(folder: string, { commonJs = false } = {}): Published {
  const source: Source = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const entries = Object.entries(source.exports ?? {}).map(([name, file]) => [name, entry(file, commonJs)] as const);
  const main = entries.find(([name]) => name === '.')?.[1];
  const { GITHUB_REPOSITORY: repository } = process.env;
  return {
    ...Object.fromEntries(KEPT.flatMap((field) => (field in source ? [[field, source[field]]] : []))),
    // npm verifies the provenance of a package against it.
    ...(repository && { repository: { type: 'git', url: `git+https://github.com/${repository}.git` } }),
    ...(source.bin && { bin: compiled(source.bin) }),
    ...(main && { exports: Object.fromEntries(entries), types: main.types, main: main.require ?? main.default }),
    // For TypeScript with `moduleResolution: node10`, as `cdk init` wrote it before 2026: it does not read exports.
    ...(main && { typesVersions: { '*': Object.fromEntries(entries.flatMap(subpath)) } }),
  };
}

function entry(file: string, commonJs: boolean): Entry {
  const stem = file.replace(/\.ts$/, '');
  return { types: `${stem}.d.ts`, ...(commonJs && { require: `${stem}.cjs` }), default: `${stem}.js` };
}

const subpath = ([name, { types }]: readonly [string, Entry]) =>
  name === '.' ? [] : [[name.slice(2), [types]] as const];

const compiled = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.replace(/\.ts$/, '.js')]));
