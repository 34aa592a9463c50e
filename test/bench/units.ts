import { measureSteps, measureUnits } from './units/measure.ts';
import { startUnits } from './units/setup.ts';

/**
 * `npm run proof -- units`: the read and write units of DynamoDB that each kind of request consumes, as a Markdown table. Measured
 * on the embedded cloud: every call that the endpoint and the workflows make, each BatchGetItem and each condition that
 * fails included. In 3 minutes or so.
 */
const OPEN_TASKS = 100;

const setup = await startUnits(OPEN_TASKS);
try {
  const rows = [...(await measureUnits(setup, OPEN_TASKS)), ...(await measureSteps(setup, [10, 100, 1_000, 10_000]))];
  console.log('| request | state | read units | write units | of indexes |\n| --- | --- | --- | --- | --- |');
  for (const { request, state, read, write, index } of rows) {
    console.log(`| ${request} | ${state} | ${read} | ${write} | ${index} |`);
  }
} finally {
  await setup.stop();
}
