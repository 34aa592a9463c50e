import { objectOf } from './json.ts';
import type { Resource } from './resources.ts';
import { unknownValue } from './specs.ts';

/** How the template wants the answers that API Gateway makes up by itself to look. */
export interface GatewayResponse {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly template?: string;
}

const HEADER = 'gatewayresponse.header.';
const VARIABLES = /\$context\.error\.(messageString|message|responseType)\b|\$context\.requestId\b/g;

export function readGatewayResponse(resource: Resource): [type: string, response: GatewayResponse] {
  const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } = resource.properties;
  const headers = Object.entries(objectOf(ResponseParameters)).map(([name, value]): [string, string] => {
    const literal = /^'(.*)'$/.exec(String(value))?.[1];
    if (!name.startsWith(HEADER) || literal === undefined) throw unknownValue(resource, name, value);
    return [name.slice(HEADER.length), literal];
  });
  const template = objectOf(ResponseTemplates)['application/json'];
  if (typeof template === 'string' && /[$#]/.test(template.replace(VARIABLES, ''))) {
    throw unknownValue(resource, 'ResponseTemplates', template);
  }
  const response = {
    headers: Object.fromEntries(headers),
    ...(StatusCode === undefined ? {} : { status: Number(StatusCode) }),
    ...(typeof template === 'string' ? { template } : {}),
  };
  return [String(ResponseType), response];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer of API Gateway itself, as the template shapes it. */
export function gatewayAnswer(
  responses: ReadonlyMap<string, GatewayResponse>,
  { type, status, message, requestId }: { type: string; status: number; message: string; requestId: string },
): Answer {
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
