import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { typeCheck } from '../../dev/type-check.ts';
import { temporaryDir } from '../fixture.ts';

/** A project whose compiler prints these problems. */
function projectWith(...problems: readonly string[]): string {
  const folder = temporaryDir();
  mkdirSync(join(folder, 'node_modules/typescript/bin'), { recursive: true });
  const print = (lines: readonly string[]) => {
    const text = JSON.stringify(lines.map((line) => `${line}\n`).join(''));
    writeFileSync(join(folder, 'node_modules/typescript/bin/tsc'), `process.stdout.write(${text})`);
  };
  print(problems);
  writeFileSync(join(folder, 'tsconfig.json'), '{}');
  return folder;
}

/** Checks once for each answer of `fails`, and returns what each check has shown. */
async function checks(folder: string, ...fails: readonly boolean[]): Promise<string[][]> {
  const shown: string[][] = [];
  for (const answers = [...fails]; answers.length > 0; ) {
    shown.push([]);
    const done = Promise.withResolvers<void>();
    asked = async () => {
      setImmediate(done.resolve);
      return answers.shift() ?? false;
    };
    show = (problem) => void shown.at(-1)?.push(problem);
    checkOf(folder).check();
    await done.promise;
  }
  return shown;
}
let asked = async () => false;
let show = (_problem: string) => {};
const known = new Map<string, ReturnType<typeof typeCheck>>();
function checkOf(folder: string) {
  const check =
    known.get(folder) ??
    typeCheck(
      folder,
      (problem) => show(problem),
      () => asked(),
    );
  known.set(folder, check);
  return check;
}

test('a type error is shown once, with file, line and column', async () => {
  const folder = projectWith('a.ts(3,9): error TS2322: Wrong.', 'not a problem');
  expect(await checks(folder, false, false)).toEqual([['a.ts:3:9: TS2322: Wrong.'], []]);
});

test('while the app or a tool does not run, the errors of the compiler wait', async () => {
  const folder = projectWith('a.ts(3,9): error TS1005: Expected.');
  expect(await checks(folder, true, true, false)).toEqual([[], [], ['a.ts:3:9: TS1005: Expected.']]);
});
