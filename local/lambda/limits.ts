import { AwsError } from '../aws-error.ts';

const maxRequestBytes = 6_291_456;
const maxEventBytes = 1_048_576;

/** Refuses what AWS refuses before it starts a function. */
export function checkPayload(payload: string, event: boolean): void {
  const bytes = Buffer.byteLength(payload);
  if (event && bytes > maxEventBytes) {
    throw tooLarge(`${bytes} byte payload is too large for the Event invocation type (limit ${maxEventBytes} bytes)`);
  }
  if (bytes > maxRequestBytes) {
    throw tooLarge(`Request must be smaller than ${maxRequestBytes} bytes for the InvokeFunction operation`);
  }
  if (payload !== '') checkJson(payload);
}

function tooLarge(message: string): AwsError {
  return new AwsError('RequestTooLargeException', message, 413);
}

function checkJson(payload: string): void {
  try {
    JSON.parse(payload);
  } catch (error) {
    throw new AwsError('InvalidRequestContentException', `Could not parse request body into json: ${error}`, 400);
  }
}
