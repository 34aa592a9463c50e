import { createHandler, type KnownTool } from './index.ts';

// The reconciler as it is deployed, with the file that synth puts beside it.
const tools: readonly KnownTool[] = require(`${__dirname}/tools.json`);

export const handler = createHandler(tools);
