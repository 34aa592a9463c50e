import { createHmac } from 'node:crypto';
import type { SignalPlace } from '../tool-contract.ts';

/** The URL of a link or webhook. It names one wait of one task without the task's id, and only who has the key can make it. */
export const signalUrl = ({ url, key }: SignalPlace, name: string): string =>
  `${url}/${signalPlace(key)}/${pathPart(name)}/${signalMac(key, name)}`;

/** Longer than any name of a wait: so no HMAC of a name is one of this text. */
export const PLACE_TEXT = 'mcp-task-server: the place of a task among the links and webhooks of its server';

/** The first part: 128 bits, the same in each run of the task, which say nothing about the task. */
export const signalPlace = (key: string): string =>
  createHmac('sha256', key).update(PLACE_TEXT).digest().subarray(0, 16).toString('base64url');

/** The last part of that URL: an HMAC-SHA256 of the name under the text of the key, as base64url. */
export const signalMac = (key: string, name: string): string =>
  createHmac('sha256', key).update(name).digest('base64url');

/**
 * A name in a path. Any other than these letters is base64url behind a `~`: browsers, mail programs and gateways change dots,
 * slashes and percent signs.
 */
const pathPart = (name: string): string =>
  /^[A-Za-z0-9_-]+$/.test(name) ? name : `~${Buffer.from(name).toString('base64url')}`;

/** The wait that a URL of the task signals. Undefined: it is another URL. */
export function waitOf(url: string, key: string): string | undefined {
  const [place, part = '', mac] = url.split('/').slice(-3);
  const name = nameIn(part);
  return place === signalPlace(key) && mac === signalMac(key, name) ? name : undefined;
}

/** The name in that part of a path. */
export const nameIn = (part: string): string =>
  part.startsWith('~') ? Buffer.from(part.slice(1), 'base64url').toString() : part;
