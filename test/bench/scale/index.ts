import { readFileSync, writeFileSync } from 'node:fs';
import { replaced } from '../report/page.ts';
import { scale } from './report.ts';

/** The page that holds the tables, between the marks of a bench. */
export const PAGE = 'docs/limits.md';

/** `npm run bench -- scale`: where the first throttle comes. Prints it, and writes it into the page. */
export async function runScale(): Promise<void> {
  const { text, indexUnits, ofOwner, ofServer } = await scale();
  console.log(
    `${text}\n\nindex units of a simple task: ${indexUnits}\ncreates a second of one owner: ${ofOwner}` +
      `\ncreates a second of a server before the first key of an index throttles: ${ofServer}\n`,
  );
  writeFileSync(PAGE, replaced(readFileSync(PAGE, 'utf8'), text));
  console.log(`Written into ${PAGE}.`);
}
