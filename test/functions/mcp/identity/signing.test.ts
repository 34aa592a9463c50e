import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type Stage, signer } from '../../../../functions/mcp/identity/signing.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The secret, the clock, and any number of containers that know both. */
function setup() {
  const secret = { AWSCURRENT: 'key 1' as string | undefined, AWSPREVIOUS: undefined as string | undefined };
  const reads: Stage[] = [];
  const at = { now: 1_700_000_000_000, broken: false };
  const fetchKey = async (stage: Stage) => {
    reads.push(stage);
    if (at.broken) throw new Error('no answer');
    return secret[stage];
  };
  let rotations = 1;
  return {
    reads,
    at,
    container: () => signer(fetchKey, () => at.now),
    rotate() {
      rotations += 1;
      secret.AWSPREVIOUS = secret.AWSCURRENT;
      secret.AWSCURRENT = `key ${rotations}`;
    },
  };
}

describe('a signed token', () => {
  test('opens for its purpose, unchanged, and for nothing else', async () => {
    const signed = setup().container();
    const token = await signed.seal('session', { key: 'k' });
    expect(await signed.open('session', token)).toEqual({ key: 'k' });
    expect(await signed.open('cursor', token)).toBeUndefined();
    const [text = '', id, mac = ''] = token.split('.');
    const other = Buffer.from('{"key":"l"}').toString('base64url');
    for (const forged of [
      `${other}.${id}.${mac}`,
      `${text}.${id}.${mac.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`,
      `${text}.${mac}`,
      `${token}.x`,
      text,
      '',
      'ä.é.ö',
    ]) {
      expect(await signed.open('session', forged)).toBeUndefined();
    }
  });

  test('of readable text is 32 characters longer and opens unchanged for its own purpose only', async () => {
    const signed = setup().container();
    const text = 'A-z_0.~a';
    const token = await signed.sign('event', text);
    expect(token.length).toBe(text.length + 32);
    expect(await signed.verify('event', token)).toBe(text);
    expect(await signed.verify('question', token)).toBeUndefined();
    expect(await signed.open('event', token)).toBeUndefined();
    expect(await signed.verify('event', await signed.seal('event', text))).toBeUndefined();
    const [id, mac = ''] = token.slice(text.length + 1).split('.');
    for (const forged of [
      `${text}a.${id}.${mac}`,
      `${text}.${id}.${mac.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A'))}`,
      `${text}.${id}.${mac.slice(1)}`,
      `${text}.${mac}`,
      text,
      '',
    ]) {
      expect(await signed.verify('event', forged), forged).toBeUndefined();
    }
  });

  test('of the previous key opens in warm and fresh containers, of the one before that in none', async () => {
    const { container, rotate, at } = setup();
    const warm = container();
    const token = await warm.seal('session', 1);
    rotate();
    expect(await warm.open('session', token)).toBe(1);
    expect(await container().open('session', token)).toBe(1);
    expect(await container().open('session', await warm.seal('session', 2))).toBe(2);
    rotate();
    expect(await container().open('session', token)).toBeUndefined();
    at.now += HOUR;
    expect(await warm.open('session', token)).toBeUndefined();
  });

  test('of a new key opens for a container that has read the old one', async () => {
    const { container, rotate } = setup();
    const warm = container();
    const old = await warm.seal('session', 1);
    rotate();
    const token = await container().seal('session', 2);
    expect(await warm.open('session', token)).toBe(2);
    expect(await warm.open('session', old)).toBe(1);
    // From now on it signs with the new one.
    expect((await warm.seal('session', 2)).split('.')).toEqual(token.split('.'));
  });
});

test('a token names its key by a hash that every container and release makes alike', async () => {
  const [, id] = (await setup().container().seal('session', 1)).split('.');
  expect(id).toBe(createHmac('sha256', 'key 1').update('id').digest('base64url').slice(0, 8));
});

test('without a key nothing is signed', async () => {
  await expect(signer(async () => undefined).seal('session', 1)).rejects.toThrow('There is no signing key');
});

describe('the key is read', () => {
  test('once for all the requests that need it at the same time', async () => {
    const { reads, container } = setup();
    const signing = container();
    await Promise.all(Array.from({ length: 50 }, () => signing.sign('p', 'text')));
    expect(reads).toEqual(['AWSCURRENT']);
  });

  test('once, by the first request that needs it, and again after an hour', async () => {
    const { container, reads, at } = setup();
    const warm = container();
    expect(reads).toEqual([]);
    const token = await warm.seal('session', 1);
    at.now += HOUR - 1;
    await warm.open('session', token);
    await warm.open('event', token);
    expect(reads).toEqual(['AWSCURRENT']);
    at.now += 1;
    await warm.seal('session', 1);
    await warm.seal('session', 1);
    expect(reads).toEqual(['AWSCURRENT', 'AWSCURRENT', 'AWSPREVIOUS']);
  });

  test('at most once a minute for tokens of unknown keys, and never for other text', async () => {
    const { container, reads, at } = setup();
    const warm = container();
    for (const garbage of ['', 'a.b', 'a.b.c', '%', `a.${'b'.repeat(8)}.${'c'.repeat(42)}`])
      await warm.open('session', garbage);
    expect(reads).toEqual([]);
    const made = (n: number) => `e30.${String(n).padStart(8, '0')}.${'c'.repeat(43)}`;
    for (let n = 0; n < 100; n++) expect(await warm.open('session', made(n))).toBeUndefined();
    expect(reads).toEqual(['AWSCURRENT', 'AWSCURRENT', 'AWSPREVIOUS']);
    at.now += MINUTE;
    for (let n = 0; n < 100; n++) await warm.open('session', made(n));
    expect(reads).toHaveLength(5);
  });

  test('again at the next request after a failure; after a success known keys last a minute', async () => {
    const { container, reads, at } = setup();
    at.broken = true;
    const warm = container();
    await expect(warm.seal('session', 1)).rejects.toThrow('no answer');
    at.broken = false;
    const token = await warm.seal('session', 1);
    at.broken = true;
    at.now += HOUR;
    const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
    expect(await warm.open('session', token)).toBe(1);
    expect(said.mock.calls).toEqual([[expect.stringContaining('"event":"unexpected_error"')]]);
    said.mockRestore();
    const before = reads.length;
    at.now += MINUTE - 1;
    expect(await warm.open('session', token)).toBe(1);
    expect(reads).toHaveLength(before);
    at.now += 1;
    await warm.open('session', token);
    expect(reads).toHaveLength(before + 2);
  });

  test('without success: a token of an unknown key may be valid, so it is an outage (A-15)', async () => {
    const { container, rotate, at } = setup();
    const warm = container();
    const known = await warm.seal('session', 1);
    rotate();
    const token = await container().seal('session', 2);
    at.broken = true;
    for (const ms of [0, MINUTE - 1]) {
      at.now += ms;
      await expect(warm.open('session', token)).rejects.toThrow('no answer');
      expect(await warm.open('session', known)).toBe(1);
    }
    at.broken = false;
    at.now += 1;
    expect(await warm.open('session', token)).toBe(2);
    expect(await warm.open('session', token.replace(/\..*\./, '.AAAAAAAA.'))).toBeUndefined();
  });
});
