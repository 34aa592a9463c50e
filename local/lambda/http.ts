import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import { Throttled } from './errors.ts';
import type { HttpRequest, HttpResponse, Lambda } from './types.ts';

const prefix = '/2015-03-31/functions/';

/** The Invoke operation of Lambda's REST API; other operations are refused by name. */
export async function handleHttp(
  lambda: Pick<Lambda, 'invoke'>,
  request: HttpRequest,
): Promise<HttpResponse | undefined> {
  const [path = ''] = request.path.split('?');
  if (!path.startsWith(prefix)) return undefined;
  try {
    const [encodedName = '', operation, ...more] = path.slice(prefix.length).split('/');
    if (request.method !== 'POST' || operation !== 'invocations' || more.length > 0) {
      throw new AwsError(
        'UnknownOperationException',
        `${request.method} ${path} is not part of the embedded Lambda.`,
        404,
      );
    }
    return await invoke(lambda, decodeName(encodedName), request);
  } catch (error) {
    return errorResponse(error);
  }
}

async function invoke(
  lambda: Pick<Lambda, 'invoke'>,
  name: string,
  { headers, body }: HttpRequest,
): Promise<HttpResponse> {
  const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (type !== 'RequestResponse' && type !== 'Event') {
    throw new AwsError('InvalidParameterValueException', `${type} is not an invocation type.`, 400);
  }
  const result = await lambda.invoke(name, body.toString(), { event: type === 'Event' });
  return response(result.statusCode, result.payload, {
    ...(type === 'Event' ? {} : { 'x-amz-executed-version': result.executedVersion }),
    ...(result.functionError ? { 'x-amz-function-error': result.functionError } : {}),
  });
}

function decodeName(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new AwsError('InvalidParameterValueException', `${encoded} is not a function name.`, 400);
  }
}

export function response(status: number, body: string, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID(), ...headers },
    body,
  };
}

/** An error in the form of Lambda. */
export function errorResponse(error: unknown): HttpResponse {
  const known = error instanceof AwsError ? error : new AwsError('ServiceException', String(error), 500);
  const reason = known instanceof Throttled ? { Reason: known.reason } : {};
  const body = { ...reason, Type: known.status < 500 ? 'User' : 'Service', message: known.message };
  return response(known.status, JSON.stringify(body), { 'x-amzn-errortype': known.type });
}
