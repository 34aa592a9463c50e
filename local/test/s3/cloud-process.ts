import { startCloud } from '../../cloud.ts';
import { filesAssembly } from './support.ts';

/** A cloud in a process of its own, for tests that measure its memory or kill it. */
const dataDir = process.argv[2];
const { endpoint, region } = await startCloud({ assembly: filesAssembly(), ...(dataDir && { dataDir }) });
const say = () => process.send?.({ endpoint, region, maxRssMb: process.resourceUsage().maxRSS / 1024 });
process.on('message', say);
process.on('disconnect', () => process.exit());
say();
