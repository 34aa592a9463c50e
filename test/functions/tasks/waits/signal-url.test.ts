import { expect, test } from 'vitest';
import { nameIn, ownerIn, ownerPart, signalMac, signalUrl } from '../../../../functions/tasks/waits/signal-url.ts';

const place = { url: 'https://mcp.example.com/signals/owner-x/t', key: 'k' };

test('the URL of a wait names it, where its name is of plain letters', () => {
  expect(signalUrl(place, 'approval_2-b')).toBe(`${place.url}/approval_2-b/${signalMac('k', 'approval_2-b')}`);
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

test('an owner has one place in a path', () => {
  for (const owner of ['owner#abc1', 'session#0z', 'task#x']) expect(ownerIn(ownerPart(owner))).toBe(owner);
});
