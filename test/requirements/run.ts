import { parseArgs } from 'node:util';
import { readClaims } from './claims.ts';
import { cover } from './coverage.ts';
import { report, reportMissing } from './report.ts';
import { readTable } from './table.ts';
import { unprovable } from './unprovable.ts';

const USAGE = `npm run proof -- requirements [--missing]

Tells which requirements of the protocol are proven by the tests that cite them in their titles, and by the
scenarios of the official conformance suite. Fails unless every MUST and 95 % of the SHOULDs are accounted for.

  --missing        only the requirements without a test`;

process.exitCode = main(process.argv.slice(2));

function main(args: string[]): number {
  const { values } = parseArgs({
    args,
    options: { missing: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const coverage = cover(readTable(), readClaims(), unprovable);
  console.log(values.missing ? reportMissing(coverage) : report(coverage));
  // They are part of the full report; without it the exit code would be a riddle.
  if (values.missing) for (const mistake of coverage.mistakes) console.error(mistake);
  return coverage.complete ? 0 : 1;
}
