import { Duration, Lazy } from 'aws-cdk-lib';
import { IdentitySource, RequestAuthorizer } from 'aws-cdk-lib/aws-apigateway';
import type { Code, IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { ToolEntry } from '../../functions/mcp/manifest.ts';
import { serverFunction } from '../server-function.ts';
import type { StorageProps } from '../storage/log-group.ts';
import type { OAuth } from './auth.ts';

export interface AuthorizerProps {
  /** The name of the server: a dimension of the metrics. */
  readonly serverName: string;
  readonly auth: OAuth;
  readonly code: Code;
  /** Every tool, once all are registered. */
  readonly tools: () => readonly ToolEntry[];
  readonly storage: StorageProps;
}

/**
 * How long API Gateway caches an answer of the authorizer, in seconds. A token that expires, or a key that its issuer
 * withdraws, stays valid for this time. If tools have scopes, nothing is cached: the answer depends on the tool.
 */
const CACHED = 60;

/** Checks the tokens of callers. API Gateway invokes it before the endpoint. */
export class Authorizer extends Construct {
  readonly function: IFunction;
  /** The authorizer of the methods of `/mcp`. */
  readonly ofRequests: RequestAuthorizer;

  constructor(scope: Construct, id: string, { serverName, auth, code, tools, storage }: AuthorizerProps) {
    super(scope, id);
    const options = {
      description: 'Checks the access tokens of MCP clients',
      code,
      memorySize: 512,
      // Four documents of the issuer take 24 s at most. A time-out of Lambda would not be counted.
      timeout: Duration.seconds(28),
      environment: {
        SERVER_NAME: serverName,
        ISSUER: auth.issuer,
        AUDIENCE: auth.audience.join(' '),
        ...(auth.jwksUri !== undefined && { JWKS_URI: auth.jwksUri }),
        SCOPES: auth.scopes.join(' '),
        ...(auth.callerClaims && { CALLER_CLAIMS: auth.callerClaims.join(' ') }),
      },
    };
    this.function = serverFunction(this, 'Function', options, storage);
    const cached = () => (tools().some(({ scopes }) => scopes !== undefined) ? 0 : CACHED);
    this.ofRequests = new RequestAuthorizer(this, 'Door', {
      handler: this.function,
      // Without the header API Gateway answers 401 by itself.
      identitySources: [IdentitySource.header('Authorization')],
      resultsCacheTtl: Duration.seconds(Lazy.number({ produce: cached })),
    });
  }
}
