import { InvalidParams } from '../../tasks/errors.ts';
import type { Call } from '../context.ts';
import { header } from '../http/http.ts';
import { isObject } from '../protocol/jsonrpc.ts';

const META = 'mcp-task-server/idempotencyKey';
const LONGEST = 255;
/** Of a random UUID without its dashes: what stands in for a caller's identity must not be guessable. */
const SHORTEST_SECRET = 32;

/**
 * The key under which a client may repeat a call and get the same task, as long as its record lives: in `_meta`, or
 * as the header Idempotency-Key. An anonymous caller without a session is told apart by nothing else, so there the key
 * must be as long as a random UUID.
 */
export function idempotencyKeyOf({ params, principal, request }: Call): string | undefined {
  const named = isObject(params._meta) ? params._meta[META] : undefined;
  const key = named ?? header(request, 'idempotency-key');
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > LONGEST) {
    throw new InvalidParams(`The idempotency key is a string of 1 to ${LONGEST} characters`);
  }
  if (principal.kind === 'anonymous' && principal.session === undefined && key.length < SHORTEST_SECRET) {
    throw new InvalidParams(
      `Without a session an idempotency key has at least ${SHORTEST_SECRET} characters: use a random UUID`,
    );
  }
  return key;
}
