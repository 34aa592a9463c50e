import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../json.ts';

/**
 * Adds the metadata of the HTTP answer, as optimized integrations do: about 1 KB, which counts towards the 256 KiB (API
 * reference of Invoke, and results recorded on AWS).
 */
export function withMetadata(output: JsonObject, bytes: number, status = 200, more: JsonObject = {}): JsonObject {
  const requestId = randomUUID();
  const headers = {
    ...more,
    'x-amzn-Remapped-Content-Length': '0',
    Connection: 'keep-alive',
    'x-amzn-RequestId': requestId,
    'Content-Length': String(bytes),
    Date: new Date().toUTCString(),
    'X-Amzn-Trace-Id': `Root=1-${requestId};Parent=${requestId.slice(0, 16)};Sampled=0;Lineage=1:${requestId.slice(0, 8)}:0`,
    'Content-Type': 'application/json',
  };
  const all = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  const answer = {
    ...output,
    SdkHttpMetadata: { AllHttpHeaders: all, HttpHeaders: headers, HttpStatusCode: status },
    SdkResponseMetadata: { RequestId: requestId },
  };
  return Object.fromEntries(Object.entries(answer).sort(([a], [b]) => (a < b ? -1 : 1)));
}
