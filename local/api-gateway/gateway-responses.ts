import { objectOf } from '../json.ts';
import type { Resource } from '../template/resources.ts';
import { unknownValue } from '../template/resources.ts';

/** The gateway responses of the template: how API Gateway shapes the answers it makes itself. */
export interface GatewayResponse {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly template?: string;
}

const HEADER = 'gatewayresponse.header.';
/**
 * AWS documents a static value or a value of the request for a header. This cloud knows static values only:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-gateway-responses.gatewayResponse.html
 */
const STATIC = /^'(.*)'$/;
const VARIABLES = /\$context\.error\.(messageString|message|responseType)\b|\$context\.requestId\b/g;

export function readGatewayResponse(resource: Resource): [type: string, response: GatewayResponse] {
  const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } = resource.properties;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(objectOf(ResponseParameters))) {
    const literal = STATIC.exec(String(value))?.[1];
    if (!name.startsWith(HEADER) || literal === undefined) throw unknownValue(resource, name, value);
    headers[name.slice(HEADER.length)] = literal;
  }
  const template = objectOf(ResponseTemplates)['application/json'];
  if (typeof template === 'string' && /[$#]/.test(template.replace(VARIABLES, ''))) {
    throw unknownValue(resource, 'ResponseTemplates', template);
  }
  const response = {
    headers,
    ...(StatusCode === undefined ? {} : { status: Number(StatusCode) }),
    ...(typeof template === 'string' ? { template } : {}),
  };
  return [String(ResponseType), response];
}

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Refusal {
  readonly type: string;
  readonly status: number;
  readonly message: string;
  readonly requestId: string;
}

/** The answer that API Gateway makes itself, shaped by the template. */
export function gatewayAnswer(
  responses: ReadonlyMap<string, GatewayResponse>,
  { type, status, message, requestId }: Refusal,
): GatewayAnswer {
  const response = responses.get(type) ?? responses.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
  const template = response?.template ?? '{"message":$context.error.messageString}';
  const values: Record<string, string> = {
    '$context.error.messageString': JSON.stringify(message),
    '$context.error.message': message,
    '$context.error.responseType': type,
    '$context.requestId': requestId,
  };
  return {
    status: response?.status ?? status,
    headers: { 'content-type': 'application/json', ...response?.headers },
    body: template.replace(VARIABLES, (name) => values[name] ?? ''),
  };
}
