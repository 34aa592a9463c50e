import type { Readable } from 'node:stream';
import { afterEach } from 'vitest';
import { startApiGateway } from '../../api-gateway/index.ts';
import type { Api, FunctionRoute } from '../../api-gateway/routes.ts';
import { noFaults } from '../../faults/index.ts';
import type { Iam } from '../../iam/index.ts';
import type { InvokeResult, Lambda, StreamResult } from '../../lambda/index.ts';

export type FakeLambda = Partial<Pick<Lambda, 'invoke' | 'invokeStreaming'>>;

export const route = (resource: string, method = 'ANY', more: Partial<FunctionRoute> = {}): FunctionRoute => ({
  resource,
  method,
  functionArn: `arn:${method}:${resource}`,
  streaming: false,
  timeoutMs: 29_000,
  ...more,
});
export const API: Api = {
  id: 'abc',
  region: 'eu-west-1',
  account: '000000000000',
  stage: 'v1',
  responses: new Map(),
  idleMs: 300_000,
  routes: [route('/mcp', 'POST', { streaming: true }), route('/plain/x')],
};

let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

export async function serve(
  lambda: FakeLambda,
  api: Partial<Api> = {},
  may?: Iam['mayService'],
  now = () => Date.UTC(2026, 3, 9, 12, 34, 56),
): Promise<{ url: string; errors: string[] }> {
  const errors: string[] = [];
  const unused = () => Promise.reject(new Error('not expected'));
  const gateway = await startApiGateway({
    api: { ...API, ...api },
    lambda: { invoke: unused, invokeStreaming: unused, ...lambda },
    bench: noFaults,
    ...(may && { iam: { mayService: may } }),
    ...{ port: 0, now },
    onError: (message: string) => errors.push(message),
  });
  stop = gateway.stop;
  return { url: gateway.url, errors };
}

export const result = (answer: unknown, more: Partial<InvokeResult> = {}): InvokeResult => ({
  statusCode: 200,
  executedVersion: '$LATEST',
  payload: JSON.stringify(answer),
  ...more,
});
export const buffered = (answer: unknown, more?: Partial<InvokeResult>): FakeLambda => ({
  invoke: async () => result(answer, more),
});
export const streamed = (body: Readable, more: Partial<StreamResult> = {}): FakeLambda => ({
  invokeStreaming: async () => ({ statusCode: 200, headers: {}, body, ...more }),
});
