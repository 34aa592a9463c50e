import type { AwsError } from '../aws-error.ts';
import type { RestHead, WireResponse } from '../wire/types.ts';

const ESCAPES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' };
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Members of an XML element, in order; a list repeats its element, `undefined` has none. */
export interface Members {
  readonly [name: string]: string | number | boolean | undefined | Members | readonly Members[];
}

export function xmlOf(members: Members): string {
  return Object.entries(members)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one) => (one === undefined ? '' : element(name, one))),
    )
    .join('');
}

function element(name: string, value: string | number | boolean | Members): string {
  const text = typeof value === 'object' ? xmlOf(value) : String(value).replace(/[<>&"]/g, (c) => ESCAPES[c] ?? c);
  return `<${name}>${text}</${name}>`;
}

/** An answer in the form of S3. */
export function xmlAnswer(root: string, members: Members): WireResponse {
  const body = `${XML}<${root} xmlns="${NAMESPACE}">${xmlOf(members)}</${root}>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

/** An error in the form of S3; an answer to HEAD has no body. */
export function xmlError({ type, message, status, details }: AwsError, { method }: RestHead): WireResponse {
  const xml = `${XML}${xmlOf({ Error: { Code: type, Message: message, ...details } })}`;
  return { status, headers: { 'content-type': 'application/xml' }, body: method === 'HEAD' ? '' : xml, error: type };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The texts of the elements of this name, without the elements around them. */
export function textsOf(name: string, xml: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([^]*?)</${name}>`, 'g'));
  return [...found].map(([, text = '']) => text);
}

export const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? all;
    return String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10));
  });
