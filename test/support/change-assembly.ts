import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Changes files of a cloud assembly in place: code, or templates. Throws if that changes nothing. */
export function changeAssembly(folder: string, isOne: (path: string) => boolean, change: (text: string) => string) {
  let changed = 0;
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isOne)) {
    const before = readFileSync(join(folder, path), 'utf8');
    const after = change(before);
    if (after === before) continue;
    writeFileSync(join(folder, path), after);
    changed += 1;
  }
  if (changed === 0) throw new Error(`There is nothing to change in ${folder} any more`);
}
