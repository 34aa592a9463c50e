import { isUtf8 } from 'node:buffer';
import { fileLink, type StoredFile } from '../../tasks/files/file.ts';

/** A file in a list of resources. Both revisions have the same fields. */
export function resource(file: StoredFile, uri: string): object {
  const { type: _, ...link } = fileLink(file);
  return { ...link, uri };
}

/** The content of a file: as text if its type says that it is text, it is, and it has few control characters: each takes six bytes of JSON. */
export function resourceContents(uri: string, bytes: Uint8Array, mimeType: string): object {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isText = /^(text\/|application\/(.+\+)?(json|xml)\b)/.test(mimeType) && isUtf8(content);
  const text = isText ? content.toString() : undefined;
  const isShort = text !== undefined && Buffer.byteLength(JSON.stringify(text)) <= 2 * content.length + 2;
  const given = isShort ? { text } : { blob: content.toString('base64') };
  return { uri, mimeType, ...given };
}
