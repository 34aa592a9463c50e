import { SFNClient } from '@aws-sdk/client-sfn';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

export const stepFunctions = (options: ClientOptions): SFNClient => quiet(new SFNClient(clientConfig(options)));
