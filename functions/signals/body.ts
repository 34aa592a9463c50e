import { limits } from '../tasks/limits.ts';
import { isJsonDeeperThan, parsed } from '../tasks/shape.ts';
import type { SignalRequest } from './context.ts';
import { isJson, Refused, typeOf } from './reply.ts';

/** The JSON of a body. Throws Refused. */
export function jsonOf(request: SignalRequest): unknown {
  if (!isJson(typeOf(request))) throw new Refused(415, 'Content-Type must be application/json');
  if (isJsonDeeperThan(request.body, limits.jsonDepth)) {
    throw new Refused(400, `JSON is nested ${limits.jsonDepth} levels deep at most`);
  }
  const value = parsed(request.body);
  if (value === undefined) throw new Refused(400, 'The body is not valid JSON');
  return value;
}
