import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAssembly, readSpecs, resolveStack } from '../../../../local/testing.ts';
import { roleOf } from './memory.ts';

const LEAK = `
const { handler } = module.exports;
const kept = [];
const apply = (target, self, given) => {
  kept.push(Buffer.alloc(20_000));
  return Reflect.apply(target, self, given);
};
module.exports = { handler: new Proxy(handler, { apply }) };
`;

/** The seeded bug that the memory judge must notice: every worker of a function keeps 20 KB for each of its requests. */
export function plantLeak(assembly: string, role: string): void {
  const { functions } = readSpecs(readAssembly(assembly).map(resolveStack));
  const found = functions.find(({ name }) => roleOf(name) === role);
  if (found === undefined) throw new Error(`there is no function to leak that is called '${role}'`);
  appendFileSync(join(found.codePath, 'index.js'), `{${LEAK}}`);
}
