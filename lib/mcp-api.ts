import { Duration, Stack } from 'aws-cdk-lib';
import {
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  type MethodOptions,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { ToolEntry } from '../functions/mcp/manifest.ts';
import type { Auth } from './auth.ts';
import { oauthDoor } from './authorizer-door.ts';
import { gatewayAnswers } from './gateway-answers.ts';

export interface McpApiProps {
  readonly handler: IFunction;
  /** Of the handler. */
  readonly timeout: Duration;
  readonly auth: Auth;
  /** What stands before `/mcp` in the URL that clients use. @default that of the stage */
  readonly publicUrl?: string;
  /** Every tool, once all are registered. */
  readonly tools: () => readonly ToolEntry[];
}

const STAGE = 'v1';

/**
 * The front door (design section 6): a regional REST API (the default, edge, cuts an idle stream after 30 s) that
 * streams every answer of `/mcp`.
 */
export function mcpApi(scope: Construct, { handler, timeout, auth, publicUrl, tools }: McpApiProps): RestApi {
  const api = new RestApi(scope, 'Api', {
    endpointTypes: [EndpointType.REGIONAL],
    cloudWatchRole: false,
    deployOptions: { stageName: STAGE, tracingEnabled: true },
  });
  const integration = new LambdaIntegration(handler, {
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: timeout.plus(Duration.seconds(5)),
    allowTestInvoke: false,
  });
  gatewayAnswers(api);
  const mcp = api.root.addResource('mcp');
  const { region, urlSuffix } = Stack.of(scope);
  const url = publicUrl ?? `https://${api.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`;
  const authorized = (): MethodOptions => {
    if (auth.kind === 'oauth') return { authorizer: oauthDoor(scope, { api, mcp, integration, auth, url, tools }) };
    return auth.kind === 'iam' ? { authorizationType: AuthorizationType.IAM } : {};
  };
  const options = authorized();
  for (const method of ['POST', 'GET', 'DELETE']) mcp.addMethod(method, integration, options);
  // Browsers ask without credentials whether they may send any.
  mcp.addMethod('OPTIONS', integration);
  return api;
}
