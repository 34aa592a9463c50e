import { Duration } from 'aws-cdk-lib';
import { EndpointType, LambdaIntegration, ResponseTransferMode, RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/**
 * The front door (design section 6): a regional REST API (the default, edge, cuts an idle stream after 30 s) that
 * streams every answer of `/mcp`.
 */
export function mcpApi(scope: Construct, handler: IFunction, timeout: Duration): RestApi {
  const api = new RestApi(scope, 'Api', {
    endpointTypes: [EndpointType.REGIONAL],
    cloudWatchRole: false,
    deployOptions: { stageName: 'v1', tracingEnabled: true },
  });
  const integration = new LambdaIntegration(handler, {
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: timeout.plus(Duration.seconds(5)),
    allowTestInvoke: false,
  });
  const mcp = api.root.addResource('mcp');
  for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) mcp.addMethod(method, integration);
  return api;
}
