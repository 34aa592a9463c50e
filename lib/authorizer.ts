import { Duration } from 'aws-cdk-lib';
import { IdentitySource, RequestAuthorizer } from 'aws-cdk-lib/aws-apigateway';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { OAuth } from './auth.ts';
import { type Keeping, logs } from './logs.ts';

export interface AuthorizerProps {
  readonly auth: OAuth;
  readonly code: Code;
  /** Where the metadata of the protected resource is. */
  readonly metadata: string;
  readonly keeping: Keeping;
}

/** Checks the tokens of callers, before the endpoint hears of them. */
export class Authorizer extends Construct {
  readonly function: LambdaFunction;
  /** Of `/mcp`. */
  readonly door: RequestAuthorizer;
  /** Of the challenge: refuses everybody, each in their own words, so nothing is kept. */
  readonly challenge: RequestAuthorizer;

  constructor(scope: Construct, id: string, { auth, code, metadata, keeping }: AuthorizerProps) {
    super(scope, id);
    const logGroup = logs(this, keeping);
    this.function = new LambdaFunction(this, 'Function', {
      description: 'Checks the access tokens of MCP clients',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.seconds(10),
      handler: 'index.handler',
      code,
      logGroup,
      role: new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
      environment: {
        ISSUER: auth.issuer,
        AUDIENCE: auth.audience.join(' '),
        ...(auth.jwksUri !== undefined && { JWKS_URI: auth.jwksUri }),
        SCOPES: auth.scopes.join(' '),
        RESOURCE_METADATA: metadata,
      },
    });
    this.function.addToRolePolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    const handler = this.function;
    const identitySources = [IdentitySource.header('Authorization')];
    // The endpoint looks at the expiry of a token on every call, so what is kept can outlive only what the issuer has
    // taken back meanwhile: a key, by five minutes, after the five for which the function believes its keys.
    const resultsCacheTtl = Duration.minutes(5);
    this.door = new RequestAuthorizer(this, 'Door', { handler, identitySources, resultsCacheTtl });
    this.challenge = new RequestAuthorizer(this, 'Challenge', {
      ...{ handler, identitySources },
      resultsCacheTtl: Duration.seconds(0),
    });
  }
}
