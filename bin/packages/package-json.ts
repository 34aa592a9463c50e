import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of this repository's package.json files that users need. */
interface Source {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface Entry {
  readonly require?: { readonly types: string; readonly default: string };
  readonly types: string;
  readonly default: string;
}

export interface Published extends Readonly<Record<string, unknown>> {
  readonly exports?: Readonly<Record<string, Entry>>;
  /** Names by which the package imports its own files. */
  readonly imports?: Readonly<Record<string, Entry>>;
  /** Compiled files, by the name of the command. */
  readonly bin?: Readonly<Record<string, string>>;
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

/** Makes the published package.json of `folder`. @param commonJs whether `require` finds each entry, too */
export function packageJson(folder: string, { commonJs = false } = {}): Published {
  const source: Source = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const entriesOf = (files: Readonly<Record<string, string>> = {}) =>
    Object.entries(files).map(([name, file]) => [name, entry(file, commonJs)] as const);
  const entries = entriesOf(source.exports);
  const main = entries.find(([name]) => name === '.')?.[1];
  const { GITHUB_REPOSITORY: repository } = process.env;
  return {
    ...Object.fromEntries(KEPT.flatMap((field) => (field in source ? [[field, source[field]]] : []))),
    // npm verifies the provenance of a package against this repository.
    ...(repository && { repository: { type: 'git', url: `git+https://github.com/${repository}.git` } }),
    ...(source.bin && { bin: compiled(source.bin) }),
    ...(source.imports && { imports: Object.fromEntries(entriesOf(source.imports)) }),
    ...(main && {
      exports: Object.fromEntries(entries),
      types: main.types,
      main: main.require?.default ?? main.default,
    }),
    // TypeScript with `moduleResolution: node10`, which `cdk init` wrote before 2026, does not read exports.
    ...(main && { typesVersions: { '*': Object.fromEntries(entries.flatMap(subpath)) } }),
  };
}

/** The package.json of the project that `npm create` makes, with the versions that this repository tests. */
export function templateJson(root: string): object {
  const json = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { name, version, dependencies: own, peerDependencies, devDependencies } = json('package.json');
  const template = json('bin/create/template/package.json');
  const versionOf = (wanted: string): string => {
    if (wanted.startsWith(name)) return `^${version}`;
    return own[wanted] ?? peerDependencies[wanted] ?? `^${devDependencies[wanted]}`;
  };
  const filled = (list: object) => Object.fromEntries(Object.keys(list).map((wanted) => [wanted, versionOf(wanted)]));
  const { dependencies, devDependencies: tools } = template;
  return { ...template, dependencies: filled(dependencies), devDependencies: filled(tools) };
}

function entry(file: string, commonJs: boolean): Entry {
  const stem = file.replace(/\.ts$/, '');
  return {
    ...(commonJs && { require: { types: `${stem}.d.cts`, default: `${stem}.cjs` } }),
    types: `${stem}.d.ts`,
    default: `${stem}.js`,
  };
}

const subpath = ([name, { types }]: readonly [string, Entry]) =>
  name === '.' ? [] : [[name.slice(2), [types]] as const];

const compiled = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.replace(/\.ts$/, '.js')]));
