import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { synthesize } from '../../template/synth.ts';
import { temporaryDir } from '../fixture.ts';

afterEach(() => vi.unstubAllEnvs());

/** The error of `synthesize` for an app that throws in a library's line of `length` characters. */
async function saidOf(length: number): Promise<string> {
  const folder = temporaryDir();
  const throwing = 'exports.check = (name) => { throw new TypeError(`${name} is not valid`); };';
  writeFileSync(
    join(folder, 'library.cjs'),
    `${`/*${'x'.repeat(length)}`.slice(0, length - throwing.length - 2)}*/${throwing}\n`,
  );
  writeFileSync(join(folder, 'app.cjs'), "const { check } = require('./library.cjs');\n\ncheck('Tasks');\n");
  const app = `"${process.execPath}" app.cjs`;
  const refused = synthesize({ folder, app, context: {} }, join(folder, 'out')).then(
    () => 'it ran',
    (error: Error) => error.message,
  );
  return (await refused).replaceAll(folder, '');
}

test.each([400, 9_000])(
  'an error is shown without the line of a minified library, of %d characters',
  async (length) => {
    const said = await saidOf(length);
    expect(said.slice(0, 200)).toMatch(/^TypeError: Tasks is not valid\n/);
    expect(said).toMatch(/at .*\/app\.cjs:3:1/);
  },
);

test('a line of 300 characters that threw is shown', async () => {
  expect(await saidOf(300)).toMatch(/^\/library\.cjs:1\n\/\*x{200,}.*\n +\^\n\nTypeError: Tasks is not valid\n/);
});

test.each([
  ['leaves the rules of CDK to the deployment', {}, undefined, 'false'],
  [
    'checks them for an app that asks to fail by them',
    { '@aws-cdk/core:validateAgainstDefaultRules': true },
    undefined,
    '-',
  ],
  ['checks them for a developer who says so', {}, 'true', 'true'],
])('a synth %s', async (_, context, environment, seen) => {
  vi.stubEnv('CDK_VALIDATION', environment);
  const folder = temporaryDir();
  writeFileSync(join(folder, 'app.cjs'), "throw new Error(`<${process.env.CDK_VALIDATION ?? '-'}>`);");
  const app = `"${process.execPath}" app.cjs`;
  await expect(synthesize({ folder, app, context }, join(folder, 'out'))).rejects.toThrow(`<${seen}>`);
});
