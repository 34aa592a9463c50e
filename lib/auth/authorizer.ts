import { Duration, Lazy } from 'aws-cdk-lib';
import { IdentitySource, RequestAuthorizer } from 'aws-cdk-lib/aws-apigateway';
import type { Code, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { ToolEntry } from '../../functions/mcp/manifest.ts';
import { serverFunction } from '../server-function.ts';
import type { StorageProps } from '../storage/log-group.ts';
import type { OAuth } from './auth.ts';

export interface AuthorizerProps {
  readonly auth: OAuth;
  readonly code: Code;
  /** Every tool, once all are registered. */
  readonly tools: () => readonly ToolEntry[];
  readonly storage: StorageProps;
}

/**
 * For how many seconds API Gateway keeps an answer of the authorizer: a token that expires or a key that its issuer takes
 * back counts for so much longer. Where tools have scopes, nothing is kept, since the answer depends on the tool.
 */
const KEPT = 60;

/** Checks the tokens of callers, before the endpoint hears of them. */
export class Authorizer extends Construct {
  readonly function: LambdaFunction;
  /** Of `/mcp`. */
  readonly door: RequestAuthorizer;

  constructor(scope: Construct, id: string, { auth, code, tools, storage }: AuthorizerProps) {
    super(scope, id);
    const options = {
      description: 'Checks the access tokens of MCP clients',
      code,
      memorySize: 512,
      timeout: Duration.seconds(10),
      environment: {
        ISSUER: auth.issuer,
        AUDIENCE: auth.audience.join(' '),
        ...(auth.jwksUri !== undefined && { JWKS_URI: auth.jwksUri }),
        SCOPES: auth.scopes.join(' '),
      },
    };
    this.function = serverFunction(this, 'Function', options, storage);
    const kept = () => (tools().some(({ scopes }) => scopes !== undefined) ? 0 : KEPT);
    this.door = new RequestAuthorizer(this, 'Door', {
      handler: this.function,
      // Without it API Gateway answers 401 by itself.
      identitySources: [IdentitySource.header('Authorization')],
      resultsCacheTtl: Duration.seconds(Lazy.number({ produce: kept })),
    });
  }
}
