import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TaskKey } from '../tasks/record.ts';
import { nameIn, ownerIn, signalMac } from '../tasks/waits/signal-url.ts';

/** One wait of one task, as the path of a request names it. */
export interface Place extends TaskKey {
  readonly name: string;
  readonly mac: string;
}

const OWNER = /^(owner|session|task)-[0-9a-z]{1,64}$/;
const TASK = /^[0-9a-z_]{36,64}$/;
const MAC = /^[A-Za-z0-9_-]{43}$/;

/** The place that a path names. Undefined: this server makes no such URL. */
export function placeOf(path: Readonly<Record<string, string | undefined>>): Place | undefined {
  const { owner = '', taskId = '', name = '', mac = '' } = path;
  if (!OWNER.test(owner) || !TASK.test(taskId) || name === '' || !MAC.test(mac)) return undefined;
  return { owner: ownerIn(owner), taskId, name: nameIn(name), mac };
}

/** Takes the place of a key that is missing, so that the answer takes as long. */
const NO_KEY = 'x'.repeat(22);
/** Both sides of a comparison have this length, whatever came. */
const digest = (text: string): Buffer => createHmac('sha256', NO_KEY).update(text).digest();

/** Whether the URL was made with this key: the `hookKey` of the record. */
export function isKey(key: string | undefined, { name, mac }: Place): boolean {
  const right = timingSafeEqual(digest(signalMac(key ?? NO_KEY, name)), digest(mac));
  return right && key !== undefined;
}
