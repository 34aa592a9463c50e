import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  /** It lies in the archive of another package, under the hash of that one. */
  readonly inBundle?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const { packages } = json('package-lock.json') as { packages: Readonly<Record<string, Package>> };
const inFolder = (path: string) => path.includes('node_modules/');

test('all that npm ci installs is locked with its hash, the Node of the scripts, too', () => {
  const unlocked = Object.entries(packages).filter(([path, { link, inBundle, integrity }]) => {
    return inFolder(path) && !link && !inBundle && integrity?.startsWith('sha512-') !== true;
  });
  expect(unlocked).toEqual([]);
  const node = packages[`node_modules/node-${process.platform}-${process.arch}`];
  if (node !== undefined) expect(process.version).toBe(`v${node.version}`);
  expect(Object.keys(packages).filter((path) => /node_modules\/node-(linux|win)/.test(path))).toHaveLength(3);
});

test("installing the package leaves the user's Node alone: no dependency has the command node", () => {
  const { dependencies = {}, optionalDependencies = {} } = packages[''] as Package;
  const seen = new Set(Object.keys({ ...dependencies, ...optionalDependencies }));
  for (const name of seen) {
    const { [`node_modules/${name}`]: found } = packages;
    expect(Object.keys(found?.bin ?? {}), name).not.toContain('node');
    for (const next of Object.keys({ ...found?.dependencies, ...found?.optionalDependencies })) seen.add(next);
  }
  expect(seen.size).toBeGreaterThan(50);
});

test('install scripts run for listed packages only, which download only locked files', () => {
  expect(json('package.json').allowScripts).toEqual({ esbuild: true, 'classic-level': true });
});
