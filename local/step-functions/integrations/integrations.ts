import { SFNClient } from '@aws-sdk/client-sfn';
import { noFaults } from '../../faults/index.ts';
import { SECRET_ACCESS_KEY } from '../../iam/secret-access-key.ts';
import { objectOf } from '../../json.ts';
import { FUNCTION } from '../definition/resource.ts';
import { type Integration, StatesError } from '../index.ts';
import { type CatalogName, catalogName, INTEGRATIONS, knownArguments } from './catalog.ts';
import { invokeHttp } from './http.ts';
import { invokeByArn, invokeLambda } from './lambda.ts';
import { describeExecution, ENDS_RULE, startExecution, startExecutionSync } from './nested-executions.ts';
import type { IntegrationOptions } from './options.ts';
import { callDynamoDb, publish, putEvents, sendMessage } from './services.ts';

/** The integrations of `INTEGRATIONS`, by Resource. Each refuses an argument that it does not know. */
export function createIntegrations(options: IntegrationOptions): Record<string, Integration> {
  const { closed, timeScale = 1 } = options;
  const clientOf = clientsOf(options);
  const executions = { clientOf, closed, endEventDelivered: endEventDelivery(options), timeScale };
  const byName: Record<CatalogName, Integration> = {
    'lambda:invoke': invokeLambda(options),
    'dynamodb:getItem': callDynamoDb(options, 'GetItem'),
    'dynamodb:putItem': callDynamoDb(options, 'PutItem'),
    'dynamodb:updateItem': callDynamoDb(options, 'UpdateItem'),
    'dynamodb:deleteItem': callDynamoDb(options, 'DeleteItem'),
    'sqs:sendMessage': sendMessage(options),
    'sns:publish': publish(options),
    'events:putEvents': putEvents(options),
    'http:invoke': invokeHttp(options),
    'states:startExecution': startExecution(executions),
    'aws-sdk:sfn:describeExecution': describeExecution(executions),
  };
  const ofResource = (resource: string): Integration => {
    if (resource === FUNCTION) return invokeByArn(options);
    if (resource.endsWith('.sync')) return startExecutionSync(executions, false);
    if (resource.endsWith('.sync:2')) return startExecutionSync(executions, true);
    return byName[catalogName(resource) as CatalogName];
  };
  return Object.fromEntries(INTEGRATIONS.map((resource) => [resource, withKnownArguments(ofResource(resource))]));
}

function withKnownArguments(integration: Integration): Integration {
  const checked: Integration = async (call) => {
    const known = knownArguments(call.resource);
    const unknown = known && Object.keys(objectOf(call.arguments)).find((name) => !known.has(name));
    if (unknown === undefined) return integration(call);
    throw new StatesError(
      'States.Runtime',
      `the embedded cloud does not know the argument ${unknown} of ${call.resource}`,
    );
  };
  return integration.waits ? Object.assign(checked, { waits: true } as const) : checked;
}

/** Delivers the event that ends the wait of a `.sync` task: a fault can lose it. */
function endEventDelivery({ bench = noFaults }: IntegrationOptions): (executionArn: string) => Promise<boolean> {
  const call = { service: 'events', operation: 'Deliver', caller: ENDS_RULE, worker: undefined } as const;
  return async (executionArn) => {
    try {
      await bench.strike({ ...call, input: () => ({ executionArn }) }, 'before');
      return true;
    } catch {
      return false;
    }
  };
}

/** Creates a client for each role. Its calls are counted and authorized, like calls of functions. */
function clientsOf({ endpoint, region, accessKeyOfRole }: IntegrationOptions): (roleArn: string) => SFNClient {
  const clients = new Map<string, SFNClient>();
  return (roleArn) => {
    const credentials = { accessKeyId: accessKeyOfRole(roleArn), secretAccessKey: SECRET_ACCESS_KEY };
    // One attempt: the Retry of a state repeats failures, where the history shows it.
    const client = clients.get(roleArn) ?? new SFNClient({ endpoint, region, credentials, maxAttempts: 1 });
    clients.set(roleArn, client);
    return client;
  };
}
