import { Duration, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  AuthorizationType,
  type CfnStage,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  type MethodOptions,
  ResponseTransferMode,
  RestApi,
  type StageOptions,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { ToolEntry } from '../../functions/mcp/manifest.ts';
import type { Auth } from '../auth/auth.ts';
import type { OperationProps } from '../server-props.ts';
import { logs } from '../storage/log-group.ts';
import { domainProps, pointDomain } from './custom-domain.ts';
import { gatewayAnswers } from './gateway-responses.ts';
import { oauthRoutes } from './oauth-routes.ts';
import { webAcl } from './web-acl.ts';

export interface McpApiProps {
  /** The name of the server. */
  readonly serverName: string;
  readonly handler: IFunction;
  /** Gets the signals for links and webhooks. */
  readonly signals: IFunction;
  /** The timeout of the handler. */
  readonly timeout: Duration;
  readonly auth: Auth;
  /** The part before `/mcp` of the URL that clients use. @default the URL of the stage */
  readonly publicUrl?: string;
  /** Every tool, once all are registered. */
  readonly tools: () => readonly ToolEntry[];
  readonly operation: OperationProps;
}

export interface McpApi {
  readonly api: RestApi;
  /** Serves the URLs of files. For the first tool that has some. */
  readonly openFiles: () => void;
  /** The part before `/mcp` of the URL that clients use. */
  readonly url: string;
}

const STAGE = 'v1';
/** The URL of the stage, for a reader that knows the rest. */
export const STAGE_URL = `https://{api}.execute-api.{region}.{suffix}/${STAGE}`;
/** The path of links and webhooks. */
export const SIGNALS = 'signals';
/** What is behind it: `functions/signals/place.ts`. */
const SIGNAL_PATH = ['{place}', '{name}', '{mac}'];
/** The path of files, and what is behind it: `functions/mcp/read/links.ts`. */
const FILES = 'files';
const FILE_PATH = ['{token}', '{name}'];
const FILE_METHODS = ['GET', 'HEAD'];
/** Methods with their own limits. API Gateway takes no limits for `ANY`. */
const SIGNAL_METHODS = ['GET', 'HEAD', 'POST'];
/** Requests a second of each method without an authorizer, so that a flood of them leaves Lambda and the table to clients. */
const OPEN_RATE = { rateLimit: 200, burstLimit: 400 };

/**
 * The API (docs/architecture/requests.md, "The endpoint"): a regional REST API that streams every answer of `/mcp`. The default,
 * an edge API, cuts an idle stream after 30 s.
 */
export function mcpApi(scope: Construct, props: McpApiProps): McpApi {
  const { serverName, handler, signals, timeout, auth, publicUrl, tools, operation } = props;
  const { domain, waf, throttling } = operation;
  const { rateLimit = 1_000, burstLimit = 2_000 } = throttling ?? {};
  if (!(rateLimit > 0 && Number.isInteger(burstLimit) && burstLimit > 0)) {
    throw new Error('McpTaskServer: throttling: a rateLimit and a whole number as burstLimit, both above 0');
  }
  const open = {
    throttlingRateLimit: Math.min(rateLimit, OPEN_RATE.rateLimit),
    throttlingBurstLimit: Math.min(burstLimit, OPEN_RATE.burstLimit),
  };
  const api = new RestApi(scope, 'Api', {
    // CloudWatch knows an API by its name: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
    restApiName: serverName,
    endpointTypes: [EndpointType.REGIONAL],
    cloudWatchRole: false,
    deployOptions: {
      stageName: STAGE,
      tracingEnabled: true,
      throttlingRateLimit: rateLimit,
      throttlingBurstLimit: burstLimit,
      methodOptions: Object.fromEntries(
        SIGNAL_METHODS.map((method) => [`/${[SIGNALS, ...SIGNAL_PATH, method].join('/')}`, open]),
      ),
      ...accessLog(scope, operation),
    },
    ...(domain && domainProps(domain)),
  });
  if (domain !== undefined) pointDomain(scope, api, domain);
  if (waf !== undefined) webAcl(scope, api.deploymentStage.stageArn, waf);
  const integration = new LambdaIntegration(handler, {
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: timeout.plus(Duration.seconds(5)),
    allowTestInvoke: false,
  });
  gatewayAnswers(api);
  const mcp = api.root.addResource('mcp');
  const { region, urlSuffix } = Stack.of(scope);
  const parts = { '{api}': api.restApiId, '{region}': region, '{suffix}': urlSuffix };
  const url = publicUrl ?? Object.entries(parts).reduce((text, [name, is]) => text.replace(name, is), STAGE_URL);
  const authorized = (): MethodOptions => {
    if (auth.kind === 'oauth')
      return { authorizer: oauthRoutes(scope, { serverName, api, auth, url, tools, storage: operation }) };
    return auth.kind === 'iam' ? { authorizationType: AuthorizationType.IAM } : {};
  };
  const options = authorized();
  // The endpoint gets all methods, and refuses some with `Allow`: API Gateway answers 403 to a method that it lacks.
  for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'PATCH']) mcp.addMethod(method, integration, options);
  // A preflight of a browser has no credentials.
  mcp.addMethod('OPTIONS', integration);
  // The HMAC in the path is the key. Calls with a token or a signature come from clients, and not from these senders.
  const signal = SIGNAL_PATH.reduce((resource, part) => resource.addResource(part), api.root.addResource(SIGNALS));
  const toSignals = new LambdaIntegration(signals, { timeout: Duration.seconds(20), allowTestInvoke: false });
  // Others get 405.
  for (const method of [...SIGNAL_METHODS, 'ANY']) signal.addMethod(method, toSignals);
  const openFiles = () => {
    if (api.root.getResource(FILES) !== undefined) return;
    // The path is the key of a file, too. The endpoint has the key that opens it.
    const file = FILE_PATH.reduce((resource, part) => resource.addResource(part), api.root.addResource(FILES));
    for (const method of FILE_METHODS) file.addMethod(method, integration);
    const stage = api.deploymentStage.node.defaultChild as CfnStage;
    const resourcePath = `/${['', FILES, ...FILE_PATH].join('~1')}`;
    const settings = FILE_METHODS.map((httpMethod) => ({ httpMethod, resourcePath, ...open }));
    stage.methodSettings = [...(stage.methodSettings as CfnStage.MethodSettingProperty[]), ...settings];
  };
  return { api, url, openFiles };
}

/** The line of a request. It has no text of a client or tool: only paths, and not `requestId`, which a client may set. */
const ACCESS = {
  requestId: '$context.extendedRequestId',
  traceId: '$context.xrayTraceId',
  time: '$context.requestTimeEpoch',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.resourcePath',
  status: '$context.status',
  refused: '$context.error.responseType',
  bytes: '$context.responseLength',
  ms: '$context.responseLatency',
  endpointMs: '$context.integrationLatency',
};

function accessLog(scope: Construct, operation: OperationProps): StageOptions {
  if (operation.accessLogs !== true) return {};
  return {
    accessLogDestination: new LogGroupLogDestination(logs(scope, operation, 'AccessLogs')),
    accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS)),
  };
}
