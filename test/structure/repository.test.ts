import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { trackedFiles } from './imports.ts';

const read = (file: string) => readFileSync(file, 'utf8');

describe('run bits', () => {
  const modes = new Map(
    execFileSync('git', ['ls-files', '--stage'], { encoding: 'utf8' })
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6)] as const),
  );

  // npm ci sets it for each command of a workspace: without it in git, a fresh checkout has modified files.
  test('each command of a package.json has it in git', () => {
    const commands = [...modes.keys()].filter((file) => posix.basename(file) === 'package.json').flatMap(commandsOf);
    expect(commands.length).toBeGreaterThan(1);
    expect(commands.filter((file) => modes.get(file) !== '100755')).toEqual([]);
  });

  test('a file has it exactly if its first line names an interpreter', () => {
    const scripts = [...modes.keys()].filter((file) => modes.get(file) !== '120000' && read(file).startsWith('#!'));
    expect([...modes.keys()].filter((file) => modes.get(file) === '100755')).toEqual(scripts);
  });

  function commandsOf(file: string): string[] {
    const { bin = {} }: { bin?: Readonly<Record<string, string>> } = JSON.parse(read(file));
    return Object.values(bin).map((command) => posix.join(posix.dirname(file), command));
  }
});

describe.each(trackedFiles('.github/workflows'))('%s', (file) => {
  const text = read(file);

  test('names each action by the hash of a commit, and the version in a comment', () => {
    const uses = [...text.matchAll(/\buses:(.*)/g)].map(([, action = '']) => action.trim());
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  test('may only read, except for the identity with which a release is published', () => {
    expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    const rights = [...text.matchAll(/^ +([\w-]+): (write|write-all)$/gm)].map(([, right]) => right);
    expect(rights).toEqual(file.endsWith('/release.yml') ? ['id-token'] : []);
  });
});

test('no line of a comment has more than 160 characters', () => {
  const files = trackedFiles('bin', 'functions', 'lib', 'local', 'test').filter((file) =>
    /\.(ts|js|jsonata)$/.test(file),
  );
  const long = files.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => line.length > 160 && /^\s*(\/\*|\*|\/\/)/.test(line))
      .map((line) => `${file}: ${line}`),
  );
  expect(files.length).toBeGreaterThan(1_000);
  expect(long).toEqual([]);
});

test('no list of members is a spread of an object literal, which only shortens it', () => {
  const files = trackedFiles('bin', 'functions', 'lib', 'local').filter(
    (file) => file.endsWith('.ts') && !file.startsWith('local/test/'),
  );
  expect(files.filter((file) => /^\s*\.\.\.\{/m.test(read(file)))).toEqual([]);
});
