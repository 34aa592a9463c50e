import type { Fetcher } from 'aws-jwt-verify/https';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { printAudit } from '../tasks/audit.ts';
import { variable } from '../tasks/aws/env.ts';
import { logUnexpected, metricLines, print } from '../tasks/log.ts';
import { type AuthorizerContext, authorize, Unauthorized } from './authorize.ts';
import { verifier } from './verify.ts';

/**
 * The authorizer as a Lambda function. `lambda.ts` calls it once.
 *
 * @param fetcher fetches documents of the issuer @default over TLS
 */
export function createHandler(toolScopes: AuthorizerContext['toolScopes'], fetcher?: Fetcher) {
  const Server = variable(process.env, 'SERVER_NAME');
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
  return async (event: APIGatewayRequestAuthorizerEvent) => {
    try {
      return await authorize(event, context);
    } catch (error) {
      // A refusal, too, is an error for Lambda. So its metric of errors says nothing here.
      if (!(error instanceof Unauthorized)) {
        logUnexpected(error, 'authorizer');
        print(metricLines({ AuthorizerErrors: 1 }, { Server }, Date.now()));
      }
      throw error;
    }
  };
}

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
