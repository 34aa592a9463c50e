import { createHmac } from 'node:crypto';
import type { SignalPlace } from '../tool-contract.ts';

/** The URL of a link or webhook. It names one wait of one task, and only who has the key can make it. */
export const signalUrl = ({ url, key }: SignalPlace, name: string): string =>
  `${url}/${encodeURIComponent(name)}/${signalMac(key, name)}`;

/** The last part of that URL: an HMAC-SHA256 of the name under the text of the key, as base64url. */
export const signalMac = (key: string, name: string): string =>
  createHmac('sha256', key).update(name).digest('base64url');
