/**
 * Decodes the value of a header: `=?base64?…?=` strictly (Node's decoder accepts errors); anything else is literal
 * (D-06). Undefined if it is encoded and malformed.
 */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  try {
    const bytes = Buffer.from(encoded, 'base64');
    if (bytes.toString('base64') !== encoded) return undefined;
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
