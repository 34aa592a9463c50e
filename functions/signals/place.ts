import { createHmac, timingSafeEqual } from 'node:crypto';
import { nameIn, signalMac, signalPlace } from '../tasks/waits/signal-url.ts';

/** One wait of one task, as the path of a request names it. */
export interface Place {
  readonly place: string;
  readonly name: string;
  readonly mac: string;
}

const PLACE = /^[A-Za-z0-9_-]{22}$/;
const MAC = /^[A-Za-z0-9_-]{43}$/;

/** The place that a path names. Undefined: this server makes no such URL. */
export function placeOf(path: Readonly<Record<string, string | undefined>>): Place | undefined {
  const { place = '', name = '', mac = '' } = path;
  if (!PLACE.test(place) || name === '' || !MAC.test(mac)) return undefined;
  return { place, name: nameIn(name), mac };
}

/** Takes the place of a key that is missing, so that the answer takes as long. */
const NO_KEY = 'x'.repeat(22);
/** Both sides of a comparison have this length, whatever came. */
const digest = (text: string): Buffer => createHmac('sha256', NO_KEY).update(text).digest();

/** Whether the URL was made with this key: the `hookKey` of the record. A tool can write a place, but not know its key. */
export function isKey(key: string | undefined, { place, name, mac }: Place): boolean {
  const made = `${signalPlace(key ?? NO_KEY)}/${signalMac(key ?? NO_KEY, name)}`;
  return timingSafeEqual(digest(made), digest(`${place}/${mac}`)) && key !== undefined;
}
