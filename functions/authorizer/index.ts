import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { printAudit } from '../tasks/audit.ts';
import { type AuthorizerWorld, authorize } from './authorize.ts';
import { verifier } from './verify.ts';

/** The authorizer as a Lambda function; called once, by the entry made at synth. */
export function createHandler(toolScopes: AuthorizerWorld['toolScopes']) {
  const { ISSUER = '', AUDIENCE = '', JWKS_URI, SCOPES = '', RESOURCE_METADATA = '' } = process.env;
  const world: AuthorizerWorld = {
    verify: verifier({
      ...{ issuer: ISSUER, audience: words(AUDIENCE) },
      ...(JWKS_URI !== undefined && { jwksUri: JWKS_URI }),
    }),
    scopes: words(SCOPES),
    toolScopes,
    metadata: RESOURCE_METADATA,
    audit: printAudit,
  };
  return (event: APIGatewayRequestAuthorizerEvent) => authorize(event, world);
}

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
