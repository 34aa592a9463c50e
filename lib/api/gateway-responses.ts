import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';

/** Lets pages of any site read why they were refused, which is not secret. No browser may take an answer for a page. */
export const ANSWER_HEADERS = {
  'X-Content-Type-Options': `'nosniff'`,
  'Access-Control-Allow-Origin': `'*'`,
  'Access-Control-Expose-Headers': `'WWW-Authenticate, Retry-After'`,
};
const AGAIN = { ...ANSWER_HEADERS, 'Retry-After': `'1'` };

/** A JSON-RPC error. `message` is JSON, or a variable of API Gateway that becomes JSON. */
export const rpcTemplate = (code: number, message: string) => ({
  'application/json': `{"jsonrpc":"2.0","error":{"code":${code},"message":${message}}}`,
});

/**
 * Makes the answers of API Gateway itself JSON-RPC errors: to a request that it refuses, and when the
 * endpoint does not answer because too many of its runs are active or one died.
 */
export function gatewayAnswers(api: RestApi): void {
  const own = '$context.error.messageString';
  const failed = JSON.stringify('The server could not answer: try again in a moment');
  api.addGatewayResponse('Default4xx', {
    type: ResponseType.DEFAULT_4XX,
    responseHeaders: ANSWER_HEADERS,
    templates: rpcTemplate(-32600, own),
  });
  api.addGatewayResponse('Throttled', {
    type: ResponseType.THROTTLED,
    responseHeaders: AGAIN,
    templates: rpcTemplate(-32600, own),
  });
  api.addGatewayResponse('Default5xx', {
    type: ResponseType.DEFAULT_5XX,
    responseHeaders: AGAIN,
    templates: rpcTemplate(-32603, failed),
  });
}
