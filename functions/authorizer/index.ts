import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { printAudit } from '../tasks/audit.ts';
import { type AuthorizerContext, authorize } from './authorize.ts';
import { verifier } from './verify.ts';

/** The authorizer as a Lambda function. `lambda.ts` calls it once. */
export function createHandler(toolScopes: AuthorizerContext['toolScopes']) {
  const { ISSUER = '', AUDIENCE = '', JWKS_URI, SCOPES = '' } = process.env;
  const context: AuthorizerContext = {
    verify: verifier({
      issuer: ISSUER,
      audience: words(AUDIENCE),
      ...(JWKS_URI !== undefined && { jwksUri: JWKS_URI }),
    }),
    scopes: words(SCOPES),
    toolScopes,
    audit: printAudit,
  };
  return (event: APIGatewayRequestAuthorizerEvent) => authorize(event, context);
}

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
