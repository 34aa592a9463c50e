import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs what the server gives a client to keep and bring back: session ids, cursors. Forged or foreign ones do not open. */
export interface Signer {
  /** `purpose` binds the token to one use and, where it matters, to one owner. */
  seal(purpose: string, payload: unknown): Promise<string>;
  /** The payload, or undefined when the token is not ours for this purpose. */
  open(purpose: string, token: string): Promise<unknown>;
}

/** `fetchKey` is called once, by the first request that needs it; again only if it failed. */
export function signer(fetchKey: () => Promise<string>): Signer {
  let key: Promise<string> | undefined;
  const mac = async (purpose: string, text: string) => {
    key ??= fetchKey();
    try {
      return createHmac('sha256', await key)
        .update(`${purpose}\n${text}`)
        .digest('base64url');
    } catch (error) {
      key = undefined;
      throw error;
    }
  };
  return {
    async seal(purpose, payload) {
      const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
      return `${text}.${await mac(purpose, text)}`;
    },
    async open(purpose, token) {
      const [text, sent, ...rest] = token.split('.');
      if (text === undefined || sent === undefined || rest.length > 0) return undefined;
      const expected = Buffer.from(await mac(purpose, text));
      const given = Buffer.from(sent);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return JSON.parse(Buffer.from(text, 'base64url').toString());
    },
  };
}
