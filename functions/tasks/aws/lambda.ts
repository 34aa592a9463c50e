import { InvokeCommand, type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

export type Invocations = (name: string, event: string, abortSignal: AbortSignal) => Promise<InvokeCommandOutput>;

/** Invokes functions by their names or ARNs. */
export function invocations(options: ClientOptions): Invocations {
  const client = quiet(new LambdaClient(clientConfig(options)));
  return (FunctionName, event, abortSignal) =>
    client.send(new InvokeCommand({ FunctionName, Payload: Buffer.from(event) }), { abortSignal });
}

export type InvokeLater = (name: string, event: object) => Promise<void>;

/** Hands events to functions, which run later. */
export function eventInvoker(options: ClientOptions): InvokeLater {
  const client = quiet(new LambdaClient(clientConfig(options)));
  return async (FunctionName, event) => {
    const Payload = Buffer.from(JSON.stringify(event));
    await client.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload }));
  };
}
