import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { logUnexpected } from '../../tasks/log.ts';

/** Signs what a client keeps and sends back: session ids, cursors, event ids. No forged or foreign token opens. */
export interface Signer {
  /** `purpose` binds the token to one use and, if needed, to one owner. */
  seal(purpose: string, payload: unknown): Promise<string>;
  /** The payload. Undefined if the token was not signed for this purpose. */
  open(purpose: string, token: string): Promise<unknown>;
  /** As seal, and no reader learns the payload. The same payload gives the same token. */
  lock(purpose: string, payload: unknown): Promise<string>;
  /** The payload. Undefined if the token was not locked for this purpose. */
  unlock(purpose: string, token: string): Promise<unknown>;
  /** As seal, for text of `A-Z a-z 0-9 _ - . ~` only: readable, and only 32 characters longer. */
  sign(purpose: string, text: string): Promise<string>;
  /** The text. Undefined if the token was not signed for this purpose. */
  verify(purpose: string, token: string): Promise<string | undefined>;
}

/** The key that signs, and the key before it, whose tokens still open. */
export type Stage = 'AWSCURRENT' | 'AWSPREVIOUS';

/** In ms. A key stops to verify at most this long after the second rotation that follows it. */
const KEYS_MAX_AGE = 3_600_000;
/** Keys are read again for a token of an unknown key, but not sooner than this, in ms: the token may be made up. */
const REFRESH_PAUSE = 60_000;

interface Key {
  /** Is part of the tokens it signs. */
  readonly id: string;
  readonly secret: string;
  /** The key that encrypts locked tokens. */
  readonly cipher: Buffer;
  readonly iv: Buffer;
}

/**
 * Reads keys at the first request that needs one, then once an hour, and at most once a minute for tokens of unknown
 * keys.
 *
 * @param fetchKey returns the secret of a stage, undefined if the stage has no key
 */
export function signer(fetchKey: (stage: Stage) => Promise<string | undefined>, now = Date.now): Signer {
  let keys: readonly Key[] | undefined;
  let readAt = 0;
  let triedAt = -Infinity;
  /** Why the last refresh failed. While it is set, an unknown key id is an outage, not a bad token. */
  let failure: unknown;

  const read = async (...stages: Stage[]): Promise<readonly Key[]> => {
    const at = now();
    const secrets = await Promise.all(stages.map(fetchKey));
    keys = secrets.flatMap((secret) => (secret === undefined ? [] : [keyFrom(secret)]));
    readAt = at;
    failure = undefined;
    return keys;
  };
  /** If keys cannot be read, the cached ones stay in use. */
  const refresh = async (held: readonly Key[]): Promise<readonly Key[]> => {
    if (now() - triedAt < REFRESH_PAUSE) return held;
    triedAt = now();
    return read('AWSCURRENT', 'AWSPREVIOUS').catch((error: unknown) => {
      logUnexpected(error, 'signing key');
      failure = error;
      return held;
    });
  };
  /** Concurrent first requests share one read. */
  let first: Promise<readonly Key[]> | undefined;
  const firstRead = () => {
    first ??= read('AWSCURRENT').finally(() => {
      first = undefined;
    });
    return first;
  };
  const currentKeys = async (): Promise<readonly Key[]> => {
    const held = keys ?? (await firstRead());
    return now() - readAt < KEYS_MAX_AGE ? held : refresh(held);
  };
  const currentKey = async (): Promise<Key> => {
    const [key] = await currentKeys();
    if (key === undefined) throw new Error('There is no signing key');
    return key;
  };
  const signed = async (purpose: string, text: string, length: number): Promise<string> => {
    const key = await currentKey();
    return `${text}.${key.id}.${mac(key.secret, `${purpose}\n${text}`).slice(0, length)}`;
  };
  const keyNamed = async (id: string): Promise<Key | undefined> => {
    const find = (held: readonly Key[]) => held.find((key) => key.id === id);
    const held = await currentKeys();
    const key = find(held) ?? find(await refresh(held));
    if (key === undefined && failure !== undefined) throw failure;
    return key;
  };
  const verified = async (purpose: string, token: string, form: RegExp): Promise<string | undefined> => {
    const [, text = '', id, sent = ''] = form.exec(token) ?? [];
    if (id === undefined) return undefined;
    const key = await keyNamed(id);
    if (key === undefined) return undefined;
    const expected = mac(key.secret, `${purpose}\n${text}`).slice(0, sent.length);
    return timingSafeEqual(Buffer.from(sent), Buffer.from(expected)) ? text : undefined;
  };
  return {
    seal: (purpose, payload) => signed(purpose, Buffer.from(JSON.stringify(payload)).toString('base64url'), WHOLE),
    async open(purpose, token) {
      const text = await verified(purpose, token, SEALED);
      return text === undefined ? undefined : parse(text);
    },
    async lock(purpose, payload) {
      const key = await currentKey();
      return `${key.id}.${encrypted(key, purpose, JSON.stringify(payload))}`;
    },
    async unlock(purpose, token) {
      const [, id, text = ''] = LOCKED.exec(token) ?? [];
      const key = id === undefined ? undefined : await keyNamed(id);
      const plain = key && decrypted(key, purpose, text);
      return plain === undefined ? undefined : JSON.parse(plain);
    },
    sign: (purpose, text) => signed(purpose, text, HALF),
    verify: (purpose, token) => verified(purpose, token, SIGNED),
  };
}

/** Length of a whole signature, and of its first 128 bits, in characters. */
const [WHOLE, HALF] = [43, 22];
/** Payload, id of the key, signature. */
const SEALED = /^([\w-]+)\.([\w-]{8})\.([\w-]{43})$/;
const SIGNED = /^([\w.~-]+)\.([\w-]{8})\.([\w-]{22})$/;

/** Id of the key, and what `encrypted` makes. */
const LOCKED = /^([\w-]{8})\.([\w-]{39,})$/;

const [CIPHER, IV, TAG] = ['aes-256-gcm', 12, 16] as const;

/** The IV follows from purpose and text, so no two texts share one under a key. */
function encrypted(key: Key, purpose: string, text: string): string {
  const iv = createHmac('sha256', key.iv).update(`${purpose}\n${text}`).digest().subarray(0, IV);
  const cipher = createCipheriv(CIPHER, key.cipher, iv).setAAD(Buffer.from(purpose));
  return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function decrypted(key: Key, purpose: string, token: string): string | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // The last letter has bits that decode to nothing: only one spelling counts.
  if (bytes.toString('base64url') !== token) return undefined;
  const decipher = createDecipheriv(CIPHER, key.cipher, bytes.subarray(0, IV), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV, -TAG)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

const parse = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());

const mac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('base64url');

/** Domain separation: every signed text has a `\n` after its purpose, and these names have none. */
const keyFrom = (secret: string): Key => {
  const named = (name: string) => createHmac('sha256', secret).update(name).digest();
  return { secret, id: named('id').toString('base64url').slice(0, 8), cipher: named('cipher'), iv: named('iv') };
};
