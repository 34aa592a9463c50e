import type { SignalReply, SignalRequest } from './context.ts';
import { page, STYLE_HASH } from './page/layout.ts';

/** The page loads nothing, runs nothing, and nothing may show it in a frame. No copy of it or of its URL is kept. */
const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
} as const;

/** Why a request is refused. Thrown, and answered with this status. */
export class Refused extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What is wrong, by field. */
  readonly fields: Readonly<Record<string, string>> | undefined;

  constructor(
    status: number,
    message: string,
    more: { headers?: Readonly<Record<string, string>>; fields?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.headers = more.headers ?? {};
    this.fields = more.fields;
  }
}

/** The same answer for each URL that this server has not made, and for each task that is not there. */
export const notFound = (): Refused => new Refused(404, 'There is nothing here. Is the link complete?');

/** The media type of the body, without its parameters. */
export const typeOf = ({ headers }: SignalRequest): string =>
  (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

export const FORM = 'application/x-www-form-urlencoded';
export const isJson = (type: string): boolean => /^application\/(.+\+)?json$/.test(type);

/** Whether a person reads the answer, in a browser. */
export function isForPeople(request: SignalRequest): boolean {
  const type = typeOf(request);
  if (type === FORM) return true;
  // A browser names what it takes.
  return !isJson(type) && (request.headers.accept ?? '').includes('text/html');
}

export const jsonReply = (status: number, body: object, headers: SignalReply['headers'] = {}): SignalReply => ({
  status,
  headers: { ...HEADERS, 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

export const htmlReply = (status: number, body: string, headers: SignalReply['headers'] = {}): SignalReply => ({
  status,
  headers: { ...HEADERS, 'content-type': 'text/html; charset=utf-8', ...headers },
  body,
});

/** The answer to a request that is refused. */
export function refusal(request: SignalRequest, { status, message, headers, fields }: Refused): SignalReply {
  if (isForPeople(request)) return htmlReply(status, page(message, ''), headers);
  return jsonReply(status, { error: message, ...(fields && { fields }) }, headers);
}
