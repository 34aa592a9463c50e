import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Runs a deployed function in this process, as a container of Lambda does: the code in the folder, with the event that the arguments
 * give. Prints its result, and the most memory that the process has taken, in MB.
 */
const [code = '', event = ''] = process.argv.slice(2);
const context = { awsRequestId: 'x', functionName: 'f', getRemainingTimeInMillis: () => 600_000 };
const { handler } = createRequire(import.meta.url)(`${code}/index.js`);
const { text } = await handler(JSON.parse(event), context);

/** On Linux, `maxRSS` begins with what the process has taken that started this one. */
const STATUS = '/proc/self/status';
const kilobytes = existsSync(STATUS)
  ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(STATUS, 'utf8'))?.[1])
  : process.resourceUsage().maxRSS;
console.log(JSON.stringify({ ...JSON.parse(text), memory: kilobytes / 1_000 }));
// The clients keep their connections.
process.exit();
