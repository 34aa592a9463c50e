import { startAws } from '../endpoint/aws.ts';

/** A process that answers for AWS at once: in the process of a handler it would be measured with it. */
const { url } = await startAws();
process.send?.(url);
process.once('disconnect', () => process.exit());
