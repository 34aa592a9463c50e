import type { Fetcher } from 'aws-jwt-verify/https';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { printAudit } from '../tasks/audit.ts';
import { variable } from '../tasks/aws/env.ts';
import { type AuthorizerContext, authorize } from './authorize.ts';
import { verifier } from './verify.ts';

/**
 * The authorizer as a Lambda function. `lambda.ts` calls it once.
 *
 * @param fetcher fetches documents of the issuer @default over TLS
 */
export function createHandler(toolScopes: AuthorizerContext['toolScopes'], fetcher?: Fetcher) {
  const { JWKS_URI, SCOPES = '', CALLER_CLAIMS = '' } = process.env;
  const context: AuthorizerContext = {
    verify: verifier(
      {
        issuer: variable(process.env, 'ISSUER'),
        audience: words(variable(process.env, 'AUDIENCE')),
        ...(JWKS_URI !== undefined && { jwksUri: JWKS_URI }),
        callerClaims: words(CALLER_CLAIMS),
      },
      { ...(fetcher && { fetcher }) },
    ),
    scopes: words(SCOPES),
    toolScopes,
    audit: printAudit,
  };
  return (event: APIGatewayRequestAuthorizerEvent) => authorize(event, context);
}

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
