import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SLICES } from '../mutation/slices.ts';

// A part of a file is found when the module loads: it throws when the file has no such lines.
test('each part of the mutation proof names files and tests that are there', () => {
  for (const { mutate, tests } of Object.values(SLICES)) {
    const globs = [...mutate, ...tests].map((glob) => glob.replace(/^!/, '').replace(/:\d+-\d+$/, ''));
    expect(globs.filter((glob) => globSync(glob).length === 0)).toEqual([]);
  }
});
