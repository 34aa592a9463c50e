import { objectOf } from './json.ts';
import type { Resource } from './resources.ts';
import { unknownValue } from './specs.ts';

/** How the template wants the answers that API Gateway makes up by itself to look. */
export interface GatewayResponse {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that get a value of the authorizer's context, by its name. */
  readonly fromAuthorizer?: Readonly<Record<string, string>>;
  readonly template?: string;
}

const HEADER = 'gatewayresponse.header.';
const VARIABLES = /\$context\.error\.(messageString|message|responseType)\b|\$context\.requestId\b/g;

export function readGatewayResponse(resource: Resource): [type: string, response: GatewayResponse] {
  const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } = resource.properties;
  const headers: Record<string, string> = {};
  const fromAuthorizer: Record<string, string> = {};
  for (const [name, value] of Object.entries(objectOf(ResponseParameters))) {
    const [, literal, inContext] = /^(?:'(.*)'|context\.authorizer\.(\w+))$/.exec(String(value)) ?? [];
    if (!name.startsWith(HEADER)) throw unknownValue(resource, name, value);
    if (literal !== undefined) headers[name.slice(HEADER.length)] = literal;
    else if (inContext !== undefined) fromAuthorizer[name.slice(HEADER.length)] = inContext;
    else throw unknownValue(resource, name, value);
  }
  const template = objectOf(ResponseTemplates)['application/json'];
  if (typeof template === 'string' && /[$#]/.test(template.replace(VARIABLES, ''))) {
    throw unknownValue(resource, 'ResponseTemplates', template);
  }
  const response = {
    ...{ headers, fromAuthorizer },
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

/** What API Gateway has to say by itself. */
export interface Refusal {
  readonly type: string;
  readonly status: number;
  readonly message: string;
  readonly requestId: string;
  /** What an authorizer said of the caller. */
  readonly context?: Readonly<Record<string, string>>;
}

/** An answer of API Gateway itself, as the template shapes it. */
export function gatewayAnswer(
  responses: ReadonlyMap<string, GatewayResponse>,
  { type, status, message, requestId, context = {} }: Refusal,
): Answer {
  const response = responses.get(type) ?? responses.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
  const template = response?.template ?? '{"message":$context.error.messageString}';
  const values: Record<string, string> = {
    '$context.error.messageString': JSON.stringify(message),
    '$context.error.message': message,
    '$context.error.responseType': type,
    '$context.requestId': requestId,
  };
  const said = Object.entries(response?.fromAuthorizer ?? {}).flatMap(([header, name]) => {
    const value = context[name];
    return value === undefined ? [] : [[header, value]];
  });
  return {
    status: response?.status ?? status,
    headers: { 'content-type': 'application/json', ...response?.headers, ...Object.fromEntries(said) },
    body: template.replace(VARIABLES, (name) => values[name] ?? ''),
  };
}
