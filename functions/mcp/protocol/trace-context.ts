import { isObject } from '../../tasks/shape.ts';
import type { Call } from '../context.ts';

/** W3C Trace Context, version 00: ids of zeros are not valid, and neither is version ff. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The trace that a call belongs to: by its `_meta` (SEP-414), or by its HTTP header. One that is not valid is ignored. */
export function traceparentOf({ params, request }: Pick<Call, 'params' | 'request'>): string | undefined {
  const meta = isObject(params._meta) ? params._meta.traceparent : undefined;
  return [meta, request.headers.traceparent].find(
    (value): value is string => typeof value === 'string' && TRACEPARENT.test(value),
  );
}
