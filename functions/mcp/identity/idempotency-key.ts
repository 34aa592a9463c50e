import { InvalidParams } from '../../tasks/errors.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Call } from '../context.ts';

const META = 'mcp-task-server/idempotencyKey';
const LONGEST = 255;
/** The length of a random UUID without dashes. The key replaces the caller's identity, so it must not be guessable. */
const SHORTEST_SECRET = 32;

/**
 * The key with which a client can repeat a call and get the same task, until its record expires. It comes in `_meta` or
 * in the header Idempotency-Key. For an anonymous caller without a session the key is the only identity, so there it
 * must be as long as a random UUID.
 */
export function idempotencyKeyOf({ params, principal, request }: Call): string | undefined {
  const named = isObject(params._meta) ? params._meta[META] : undefined;
  const key = named ?? request.headers['idempotency-key'];
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
