import { createHmac, timingSafeEqual } from 'node:crypto';
import { logUnexpected } from '../../tasks/log.ts';

/** Signs what the server gives a client to keep and bring back: session ids, cursors. Forged or foreign ones do not open. */
export interface Signer {
  /** `purpose` binds the token to one use and, where it matters, to one owner. */
  seal(purpose: string, payload: unknown): Promise<string>;
  /** The payload, or undefined when the token is not ours for this purpose. */
  open(purpose: string, token: string): Promise<unknown>;
  /** As seal, for text of `A-Z a-z 0-9 _ - . ~` alone: readable, and only 32 characters longer. */
  sign(purpose: string, text: string): Promise<string>;
  /** The text, or undefined when the token is not ours for this purpose. */
  verify(purpose: string, token: string): Promise<string | undefined>;
}

/** The key to sign with, and the one before it: what that signed still opens. */
export type Stage = 'AWSCURRENT' | 'AWSPREVIOUS';

/** How long keys are believed: so long after its second rotation nothing that a key has signed opens any more. */
const KEYS_MAX_AGE = 3_600_000;
/** A token of an unknown key may be of a new one, so keys are read again; but not for every token that is made up. */
const REFRESH_PAUSE = 60_000;

interface Key {
  /** Stands in the tokens it signs. */
  readonly id: string;
  readonly secret: string;
}

/**
 * `fetchKey` is called by the first request that needs the key, and from then on rarely: once an hour, and at most
 * once a minute for tokens of other keys than those read last. Undefined: there is none of that stage.
 */
export function signer(fetchKey: (stage: Stage) => Promise<string | undefined>, now = Date.now): Signer {
  let keys: readonly Key[] | undefined;
  let readAt = 0;
  let triedAt = -Infinity;
  /** Of the last read: until the next one, a token of another key than those held may be good. */
  let failure: unknown;

  const read = async (...stages: Stage[]): Promise<readonly Key[]> => {
    const at = now();
    const secrets = await Promise.all(stages.map(fetchKey));
    keys = secrets.flatMap((secret) => (secret === undefined ? [] : [keyFrom(secret)]));
    readAt = at;
    failure = undefined;
    return keys;
  };
  /** When they cannot be read, those that are there go on. */
  const refresh = async (held: readonly Key[]): Promise<readonly Key[]> => {
    if (now() - triedAt < REFRESH_PAUSE) return held;
    triedAt = now();
    return read('AWSCURRENT', 'AWSPREVIOUS').catch((error: unknown) => {
      logUnexpected(error, 'signing key');
      failure = error;
      return held;
    });
  };
  /** Requests that come before the first key is there wait for the same read. */
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
  const signed = async (purpose: string, text: string, length: number): Promise<string> => {
    const [key] = await currentKeys();
    if (key === undefined) throw new Error('There is no signing key');
    return `${text}.${key.id}.${mac(key.secret, `${purpose}\n${text}`).slice(0, length)}`;
  };
  const verified = async (purpose: string, token: string, form: RegExp): Promise<string | undefined> => {
    const [, text = '', id, sent = ''] = form.exec(token) ?? [];
    if (id === undefined) return undefined;
    const find = (held: readonly Key[]) => held.find((key) => key.id === id);
    const held = await currentKeys();
    const key = find(held) ?? find(await refresh(held));
    if (key === undefined && failure !== undefined) throw failure;
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
    sign: (purpose, text) => signed(purpose, text, HALF),
    verify: (purpose, token) => verified(purpose, token, SIGNED),
  };
}

/** Characters of a whole signature, and of its first 128 bits. */
const [WHOLE, HALF] = [43, 22];
/** Payload, id of the key, signature. */
const SEALED = /^([\w-]+)\.([\w-]{8})\.([\w-]{43})$/;
const SIGNED = /^([\w.~-]+)\.([\w-]{8})\.([\w-]{22})$/;

const parse = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());

const mac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('base64url');

/** No purpose is without its end of line, so this is a signature of nothing else. */
const keyFrom = (secret: string): Key => ({ secret, id: mac(secret, 'id').slice(0, 8) });
