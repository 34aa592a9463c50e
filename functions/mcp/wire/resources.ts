import { isUtf8 } from 'node:buffer';
import { fileLink, type StoredFile } from '../../tasks/files/file.ts';

/** A file in a list of resources. Both revisions have the same fields. */
export function resource(file: StoredFile, uri: string): object {
  const { type: _, ...link } = fileLink(file);
  return { ...link, uri };
}

/** The content of a file: as text if its type says that it is text, and it is. */
export function resourceContents(uri: string, bytes: Uint8Array, mimeType: string): object {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isText = /^(text\/|application\/(.+\+)?(json|xml)\b)/.test(mimeType) && isUtf8(content);
  const given = isText ? { text: content.toString() } : { blob: content.toString('base64') };
  return { uri, mimeType, ...given };
}
