import type { ErrorObject } from 'ajv';
import { bounded } from '../mcp/bounded-validation.ts';
import type { Validator } from '../mcp/manifest.ts';
import { logEvent } from '../tasks/log.ts';
import { checkOf } from '../tasks/waits/webhook-schema.ts';
import { jsonOf } from './body.ts';
import type { SignalReply, SignalRequest, SignalsContext } from './context.ts';
import { type Found, overWith, received, store } from './found.ts';
import { Refused } from './reply.ts';
import type { WebhookWait } from './wait.ts';

/** The most problems that an answer names. */
const SHOWN = 50;

/** Answers the POST of another system. */
export async function receiveWebhook(
  request: SignalRequest,
  found: Found & { readonly wait: WebhookWait },
  context: SignalsContext,
): Promise<SignalReply> {
  const { over, signal, wait } = found;
  if (over && signal === undefined) throw overWith(signal);
  let body: unknown;
  try {
    body = bodyOf(request, wait);
  } catch (error) {
    // The first one counts, whatever this one is.
    throw signal === undefined ? error : overWith(signal);
  }
  const stored = await store(found, (at) => ({ body, at }), context);
  if (stored?.outcome !== 'stored') throw overWith(stored?.signal);
  return received(stored.signal);
}

function bodyOf(request: SignalRequest, { schema }: WebhookWait): unknown {
  const body = jsonOf(request);
  const fields = schema && problemsOf(schema, body);
  if (fields !== undefined) throw new Refused(422, 'The body does not fit its schema', { fields });
  return body;
}

/** What does not fit, by its place in the body. A schema that cannot be used keeps no signal out: the tool gets it. */
function problemsOf(schema: object, body: unknown): Readonly<Record<string, string>> | undefined {
  const check = checkOf(schema);
  if (check === undefined) logEvent('webhook_schema_unusable', {}, 'warn');
  if (check === undefined) return undefined;
  // After a check that took too long, the schema's own check still has the problems of a body before this one.
  const judge = bounded(check as Validator, 'the body of a webhook');
  if (judge(body)) return undefined;
  const problems = (judge.errors === check.errors ? (check.errors ?? []) : [])
    .slice(0, SHOWN)
    .map((error) => [placeIn(error), error.message ?? 'is not valid']);
  // The first problem of a field says most.
  return Object.fromEntries(problems.length === 0 ? [['/', 'takes too long to check']] : problems.reverse());
}

/** The place of a problem in the body: of a member that is missing, or is too much, that member. */
function placeIn({ instancePath, params }: ErrorObject): string {
  const member: unknown = params.missingProperty ?? params.additionalProperty;
  return typeof member === 'string' ? `${instancePath}/${member}` : instancePath || '/';
}
