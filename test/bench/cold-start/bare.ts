import { calls } from './clients.ts';
import { bareHandler } from './lambda.ts';

/** An empty handler with the AWS clients: no protocol, no checks. */
export const handler = bareHandler(calls());
