import { makeAssembly } from './assembly.ts';
import { everything } from './flow.ts';
import { removeEach } from './report.ts';

/**
 * `npm run proof -- permissions`: what the policies grant and no call needed. With `--remove`, what goes wrong without each
 * statement, one after the other; that takes some minutes. Fails when there is anything needless.
 */
const assembly = await makeAssembly();
try {
  const unused = await everything(assembly);
  for (const { statement, action, resource } of unused) console.log(`not used: ${statement}: ${action} on ${resource}`);
  const needless = process.argv.includes('--remove') ? await removeEach(assembly) : [];
  for (const name of needless) console.log(`needless: ${name}`);
  if (unused.length + needless.length > 0) process.exitCode = 1;
  else console.log('Every permission is needed.');
} finally {
  await assembly.remove();
}
