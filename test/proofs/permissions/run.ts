import { makeAssembly } from './assembly.ts';
import { everything } from './flow.ts';
import { removeEach } from './report.ts';

/**
 * `npm run proof -- permissions`: the grants of the policies that no call needed. With `--remove`, the failure without each
 * statement, one after the other; this takes some minutes. Fails if there is a needless grant.
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
