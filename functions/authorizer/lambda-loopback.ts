import { createHandler } from './index.ts';
import { loopbackFetcher } from './loopback.ts';

// This is the authorizer of an app whose issuer is on this machine, for the embedded cloud only.
const scopes: Readonly<Record<string, readonly string[]>> = require(`${__dirname}/scopes.json`);

export const handler = createHandler(scopes, loopbackFetcher);
