import { clientConfig } from '../../../functions/tasks/aws/client.ts';
import { calls } from './clients.ts';
import { bareHandler } from './lambda.ts';

/** The same, whose clients are told what they would otherwise search for. */
export const handler = bareHandler(calls(clientConfig({ requestTimeout: 5_000, attempts: 4 })));
