import { expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import {
  nameIn,
  PLACE_TEXT,
  signalMac,
  signalPlace,
  signalUrl,
  waitOf,
} from '../../../../functions/tasks/waits/signal-url.ts';

const place = { url: 'https://mcp.example.com/signals', key: 'k' };

test('the URL of a wait names it, where its name is of plain letters', () => {
  expect(signalUrl(place, 'approval_2-b')).toBe(
    `${place.url}/${signalPlace('k')}/approval_2-b/${signalMac('k', 'approval_2-b')}`,
  );
  // echo -n approval | openssl dgst -sha256 -hmac k -binary | basenc --base64url
  expect(signalMac('k', 'approval')).toHaveLength(43);
});

test.each(['..', '.', 'a/b', '50%25', 'naïve ключ 鍵 🔑', '~', '~YQ', 'a b', '?', '#'])(
  'any other name survives what browsers and gateways do to a path: %s',
  (name) => {
    const [part = '', mac = ''] = signalUrl(place, name).split('/').slice(-2);
    expect(`${part}${mac}`).toMatch(/^[A-Za-z0-9_~-]+$/);
    expect(new URL(signalUrl(place, name)).href).toBe(signalUrl(place, name));
    expect(nameIn(part)).toBe(name);
  },
);

test('the place of a task is of its key alone, and no name of a wait has its HMAC', () => {
  expect(signalPlace('k')).toBe('YihehJD7QxpNUFaAj1ZlrA');
  expect(signalPlace('l')).not.toBe(signalPlace('k'));
  expect(PLACE_TEXT.length).toBeGreaterThan(limits.waits.name);
});

test('the wait of a URL is found by the key of its task, and by no other key and no other URL', () => {
  for (const name of ['approval', 'a/b', '鍵 🔑']) expect(waitOf(signalUrl(place, name), 'k')).toBe(name);
  const url = signalUrl(place, 'approval');
  expect(waitOf(url, 'l')).toBeUndefined();
  for (const other of [url.replace('approval', 'paid'), `${url}?x`, url.slice(0, -1), 'https://a.example', '']) {
    expect(waitOf(other, 'k'), other).toBeUndefined();
  }
  // Of another task, with the right HMAC.
  expect(waitOf(url.replace(signalPlace('k'), signalPlace('l')), 'k')).toBeUndefined();
});
