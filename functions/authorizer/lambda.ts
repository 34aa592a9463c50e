import { createHandler } from './index.ts';

// The authorizer as it is deployed, with the file that synth puts beside it: the scopes of each tool that needs some.
const scopes: Readonly<Record<string, readonly string[]>> = require(`${__dirname}/scopes.json`);

export const handler = createHandler(scopes);
