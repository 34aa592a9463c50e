import { overAt } from '../engine/receive.ts';
import { asOf } from '../tasks/deadlines.ts';
import { InvalidParams, RecordUnknown } from '../tasks/errors.ts';
import { limits } from '../tasks/limits.ts';
import { errorFacts } from '../tasks/log.ts';
import { storedSignal } from '../tasks/waits/signals.ts';
import type { SignalReply, SignalRequest, SignalsContext } from './context.ts';
import type { Found } from './found.ts';
import { answerLink, showLink } from './link.ts';
import { isKey, placeOf } from './place.ts';
import { receiveWebhook } from './receive-webhook.ts';
import { notFound, Refused, refusal } from './reply.ts';
import { readWait } from './wait.ts';

/**
 * Answers one request to the URL of a link or a webhook (docs/architecture/requests.md, "Signals"). A URL that this server has not
 * made costs one read, of the place that it names, and learns nothing. Never logs a URL.
 */
export async function serve(request: SignalRequest, context: SignalsContext): Promise<SignalReply> {
  const reply = await answer(request, context).catch((error: unknown) => refusal(request, refusedFor(error, context)));
  return request.method === 'HEAD' ? { ...reply, body: '' } : reply;
}

function refusedFor(error: unknown, { log }: SignalsContext): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof InvalidParams) return new Refused(413, error.message);
  if (!(error instanceof RecordUnknown)) log('signal_failed', { ...errorFacts(error) });
  const message = 'The server cannot do this at the moment: try again in a few seconds';
  return new Refused(503, message, { headers: { 'retry-after': '5' } });
}

async function answer(request: SignalRequest, context: SignalsContext): Promise<SignalReply> {
  const { method, body } = request;
  if (Buffer.byteLength(body) > limits.signal.body) {
    throw new Refused(413, `A body has ${limits.signal.body} bytes at most`);
  }
  if (!['GET', 'HEAD', 'POST'].includes(method)) throw notOffered('GET, HEAD, POST');
  const found = await find(request, context);
  if (found.wait.kind === 'link') {
    const link = { ...found, wait: found.wait };
    return method === 'POST' ? answerLink(request, link, context) : showLink(link, context);
  }
  if (method !== 'POST') throw notOffered('POST');
  return receiveWebhook(request, { ...found, wait: found.wait }, context);
}

const notOffered = (allow: string): Refused =>
  new Refused(405, `Only ${allow} can be used here`, { headers: { allow } });

async function find({ path }: SignalRequest, context: SignalsContext): Promise<Found> {
  const place = placeOf(path);
  if (place === undefined) throw notFound();
  const key = await context.places.readPlace(place.place);
  if (key === undefined) throw notFound();
  const now = context.now();
  const stored = await context.store.get(key);
  // The key comes first: what else is done with a record takes time.
  if (!isKey(stored?.hookKey, place) || stored === undefined || asOf(stored, now) === undefined) throw notFound();
  const wait = await readWait(stored, place.name, context);
  if (wait === undefined) throw notFound();
  const over = overAt(stored, now) || now >= wait.until;
  const whole = stored.inputResponses === undefined ? stored : await context.inputs.whole(stored);
  const signal = storedSignal(whole, place.name)?.signal;
  return { record: stored, name: place.name, wait, over, ...(signal && { signal }) };
}
