import { clientConfig } from '../../../functions/tasks/aws/client.ts';
import { calls } from './clients.ts';
import { bareHandler } from './lambda.ts';

/** The same handler. Its clients get the settings that they would otherwise search for. */
export const handler = bareHandler(calls(clientConfig({ requestTimeout: 5_000, attempts: 4 })));
