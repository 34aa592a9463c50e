import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../../json.ts';
import { type Integration, type IntegrationCall, StatesError } from '../index.ts';
import { PAYLOAD_LIMIT } from '../payload.ts';
import type { IntegrationOptions } from './options.ts';

/** "An HTTP Task times out after 60 seconds" (developer guide, "Call HTTPS APIs in Step Functions workflows"). */
const LONGEST_MS = 60_000;
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];
/** Headers that an HTTP task sets or removes itself (same page, "HTTP Task fields", Headers). */
const OWN_HEADERS = new Set(
  `a-im accept-charset accept-datetime accept-encoding authorization cache-control connection content-encoding content-md5
  date expect forwarded from host http2-settings if-match if-modified-since if-none-match if-range if-unmodified-since
  max-forwards origin pragma proxy-authorization range referer server te trailer transfer-encoding upgrade user-agent via
  warning x-forwarded-for x-forwarded-host x-forwarded-proto`.split(/\s+/),
);

/** `http:invoke`: calls an API by HTTPS, with the credentials of a connection of the template. */
export const invokeHttp =
  (options: IntegrationOptions): Integration =>
  async (call) => {
    // Whether the API got it is not known: the Retry of the machine decides.
    if (call.lost) throw new StatesError('States.Http.Socket', 'the connection was lost');
    const asked = readRequest(call, options);
    const { url, method, headers, body, connection } = asked;
    const { stateMachineArn, roleArn } = call;
    const input = { stateMachineArn, endpoint: url.href, method, ...connection };
    const facts = { service: 'states', operation: 'InvokeHTTPEndpoint', worker: undefined } as const;
    const denied = options.iam?.denied({ ...facts, caller: options.accessKeyOfRole(roleArn), input: () => input });
    if (denied) throw new StatesError('States.Permissions', denied.message);
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(LONGEST_MS)]);
    const sent = { method, headers, signal, redirect: 'manual', ...(body !== undefined && { body }) } as const;
    const answer = await fetch(url, sent).catch((error: unknown) => {
      throw new StatesError('States.Http.Socket', error instanceof Error ? error.message : String(error));
    });
    const text = await answer.text();
    if (Buffer.byteLength(text) > PAYLOAD_LIMIT) {
      throw new StatesError('States.DataLimitExceeded', `The answer has more than ${PAYLOAD_LIMIT} bytes.`);
    }
    if (!answer.ok) throw new StatesError(`States.Http.StatusCode.${answer.status}`, answer.statusText);
    return {
      Headers: Object.fromEntries([...answer.headers].map(([name, value]) => [name, [value]])),
      ResponseBody: bodyOf(text, answer.headers.get('content-type') ?? ''),
      StatusCode: answer.status,
      StatusText: answer.statusText,
    };
  };

function readRequest({ arguments: args, resource }: IntegrationCall, { connections, region }: IntegrationOptions) {
  const { ApiEndpoint, Method, Authentication, InvocationConfig, Headers, QueryParameters, RequestBody, Transform } =
    objectOf(args);
  const refuse = (why: string): never => {
    throw new StatesError('States.Runtime', `${resource}: ${why}`);
  };
  const arn =
    stringOf(objectOf(Authentication ?? InvocationConfig).ConnectionArn) ?? refuse('ConnectionArn is required');
  const connection = connections?.get(arn) ?? refuse(`the embedded cloud does not know the connection ${arn}`);
  const url = URL.parse(String(ApiEndpoint)) ?? refuse('ApiEndpoint is not a URL');
  if (url.protocol !== 'https:' || url.username !== '') refuse('ApiEndpoint must be an https URL without a user');
  const method = METHODS.find((one) => one === Method) ?? refuse(`Method must be one of ${METHODS.join(', ')}`);
  for (const [name, value] of Object.entries(objectOf(QueryParameters))) {
    for (const one of Array.isArray(value) ? listOf(value) : [value]) url.searchParams.append(name, String(one));
  }
  const own = Object.keys(objectOf(Headers)).find(
    (name) => /^x-amz/i.test(name) || OWN_HEADERS.has(name.toLowerCase()),
  );
  if (own !== undefined) refuse(`the header ${own} cannot be set`);
  const { RequestBodyEncoding = 'NONE', RequestEncodingOptions } = objectOf(Transform);
  const form = RequestBodyEncoding === 'URL_ENCODED';
  if (!form && RequestBodyEncoding !== 'NONE') refuse(`RequestBodyEncoding ${RequestBodyEncoding} is not known`);
  const [header, credentials] = connection.header;
  const given = Object.entries(objectOf(Headers)).map(([name, value]) => [name.toLowerCase(), String(value)]);
  const type = form ? 'application/x-www-form-urlencoded;charset=utf-8' : 'application/json';
  const content = form
    ? encoded(objectOf(RequestBody), stringOf(objectOf(RequestEncodingOptions).ArrayFormat) ?? 'INDICES')
    : typeof RequestBody === 'string'
      ? RequestBody
      : JSON.stringify(RequestBody);
  const body = RequestBody === undefined ? undefined : content;
  return {
    url,
    method,
    connection: { connectionArn: connection.arn, secretArn: connection.secretArn },
    headers: {
      ...(body !== undefined && { 'content-type': type }),
      ...Object.fromEntries(given),
      'user-agent': `Amazon|StepFunctions|HttpInvoke|${region}`,
      range: `bytes=0-${PAYLOAD_LIMIT}`,
      [header.toLowerCase()]: credentials,
    },
    body,
  };
}

type Names = (name: string, index: number) => string;
const ARRAY_NAMES: Readonly<Record<string, Names>> = {
  INDICES: (name, index) => `${name}[${index}]`,
  REPEAT: (name) => name,
  BRACKETS: (name) => `${name}[]`,
};

/** A form of the body, whose lists are written as `ArrayFormat` says. */
function encoded(body: JsonObject, format: string): string {
  const fields = (name: string, value: unknown): [string, string][] => {
    if (isObject(value)) return Object.entries(value).flatMap(([key, inner]) => fields(`${name}[${key}]`, inner));
    if (!Array.isArray(value)) return [[name, String(value)]];
    if (format === 'COMMAS') return [[name, value.join(',')]];
    const names = ARRAY_NAMES[format];
    if (names === undefined) throw new StatesError('States.Runtime', `ArrayFormat ${format} is not known`);
    return value.flatMap((inner, index) => fields(names(name, index), inner));
  };
  return String(new URLSearchParams(Object.entries(body).flatMap(([name, value]) => fields(name, value))));
}

function bodyOf(text: string, type: string): unknown {
  if (!/\bjson\b/.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
