import { createHash, randomBytes } from 'node:crypto';
import { limits } from '../limits.ts';
import type { TaskKey } from '../record.ts';
import { has, isInteger, parsed } from '../shape.ts';
import type { FileLink } from '../tool-contract.ts';

/** A file of a task, once all of it is stored. */
export interface StoredFile {
  /** 128 random bits, base64url. */
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** What a result or a message holds in place of the URL of a file. Each read of it gets a fresh URL. */
export const FILE_SCHEME = 'mcp-task-file:';
/** All of it: id, SHA-256 as base64url, and a name for people. */
export const PLACEHOLDER = new RegExp(`${FILE_SCHEME}([\\w-]{22})\\.([\\w-]{43})/([\\w.-]{1,60})`, 'g');
/** The members of `_meta` of a link are named with this. */
const SHA256 = 'mcp-task-server/sha256';

const ID = /^[A-Za-z0-9_-]{22}$/;
const isId = (value: unknown): boolean => typeof value === 'string' && ID.test(value);

export const newFileId = (): string => randomBytes(16).toString('base64url');

/**
 * Where a file lies in S3. Made from its task, so a link of one task cannot reach a file of another. A browser sees it: it does not
 * reveal the id of the task.
 */
export function fileKey({ owner, taskId }: TaskKey, id: string): string {
  const folder = createHash('sha256')
    .update(JSON.stringify([owner, taskId]))
    .digest('hex');
  return `files/${folder}/${id}`;
}

/** The link to a file, as a block of a result. */
export const fileLink = ({ id, name, type, bytes, sha256 }: StoredFile): FileLink => ({
  type: 'resource_link',
  uri: `${FILE_SCHEME}${id}.${digestOf({ sha256 })}/${pathName(name)}`,
  name,
  mimeType: type,
  size: bytes,
  _meta: { [SHA256]: sha256 },
});

/** Its SHA-256 as base64url, as links hold it. */
export const digestOf = ({ sha256 }: Pick<StoredFile, 'sha256'>): string =>
  Buffer.from(sha256, 'hex').toString('base64url');

/** A message with the names of files in place of their links, for operators. */
export const withFileNames = (message: string): string => message.replace(PLACEHOLDER, '$3');

/** A part of a URL that says what the file is, and that no browser, mail program or gateway changes. */
export function pathName(name: string): string {
  const part = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(-60);
  return /^\.*$/.test(part) ? 'file' : part;
}

/** What is wrong with the name of a file. Undefined: nothing. */
export function nameProblem(name: unknown): string | undefined {
  const most = limits.files.name;
  const isName = typeof name === 'string' && name !== '' && [...name].length <= most && name.isWellFormed();
  if (!isName) return `a name has 1 to ${most} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for
  return /[/\u0000-\u001f\u007f]/.test(name) ? 'a name has no slash and no control character' : undefined;
}

/** A media type, perhaps with parameters. It becomes a header. */
export const isMediaType = (type: unknown): boolean =>
  typeof type === 'string' &&
  type.length <= limits.files.type &&
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *; *[\w!#$&^.+-]+=("[ !#-[\]-~]*"|[\w!#$&^.+-]+))*$/.test(type);

/** Types that a browser shows without running anything. It saves all others. */
const SHOWN = /^(image\/(?!svg)|video\/|audio\/|text\/plain\b|application\/pdf\b)/i;

/** The header Content-Disposition (RFC 6266): a name in ASCII, and the name itself for readers that know UTF-8. */
export function dispositionOf(name: string, type: string): string {
  const utf8 = encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${SHOWN.test(type) ? 'inline' : 'attachment'}; filename="${pathName(name)}"; filename*=UTF-8''${utf8}`;
}

const isFile = has({
  id: isId,
  name: (name) => nameProblem(name) === undefined,
  type: isMediaType,
  bytes: isInteger,
  sha256: (hash) => typeof hash === 'string' && /^[\da-f]{64}$/.test(hash),
});

/** A file that a tool has noted. Undefined: it is none. */
export function fileOf(value: unknown): StoredFile | undefined {
  const file = parsed(String(value));
  if (!isFile(file)) return undefined;
  const { id, name, type, bytes, sha256 } = file as StoredFile;
  return { id, name, type, bytes, sha256 };
}
