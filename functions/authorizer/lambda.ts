import { createHandler } from './index.ts';

// This is the deployed authorizer. Synth puts the file with the scopes of each tool beside it.
const scopes: Readonly<Record<string, readonly string[]>> = require(`${__dirname}/scopes.json`);

export const handler = createHandler(scopes);
