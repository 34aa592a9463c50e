import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';

/** `node tool-sample.cjs INDEX`: loads the bundle of a tool, and prints how long that took. */
const [index = ''] = process.argv.slice(2);
const [since, before] = [performance.now(), process.threadCpuUsage()];
createRequire(index)(index);
const { user, system } = process.threadCpuUsage(before);
console.log(JSON.stringify({ wall: performance.now() - since, cpu: (user + system) / 1_000 }));
