/**
 * Writes a journal in a process with a limit for the size of files, and continues after the record that does not fit:
 * `partial-write.ts FILE`. Prints the error of that record.
 */

import { executionArn, single } from '../../../local/test/step-functions/support.ts';
import { openJournal } from '../../../local/testing.ts';

// A failed write ends a process. This one continues, to see the effect of a later write.
process.on('uncaughtException', () => undefined);
const [file = ''] = process.argv.slice(2);
const journal = openJournal({ file, running: [], closed: () => [] });
const start = (execution: number, bytes: number) => {
  const facts = { arn: executionArn(`e${execution}`), startDate: 1, input: 'x'.repeat(bytes), seed: 's' };
  journal.started({ execution, machine: 'hash', ...facts }, single({ Type: 'Pass' }));
};
start(1, 20_000);
try {
  start(2, 300_000);
} catch (error) {
  console.log((error as Error).message);
}
start(3, 100);
journal.called({ execution: 1, ask: 1 });
