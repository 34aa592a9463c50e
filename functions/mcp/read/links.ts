import { FILE_SCHEME, PLACEHOLDER, pathName } from '../../tasks/files/file.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';

/** The path of files, behind the URL of the server. */
const FILES = 'files';
/** Most links of one text: a URL is longer than what it replaces, and a tool may repeat that a hundred thousand times. */
const MOST = 10 * limits.files.most;

/** What a URL says of its file. No reader of the URL sees it, and so the URL does not reveal the id of a task. */
interface Place extends TaskKey, Linked {
  /** In ms since the epoch. */
  readonly until: number;
}

interface Linked {
  readonly id: string;
  /** SHA-256 as base64url. */
  readonly digest: string;
}

/** The end of the path binds what is before it. */
const purposeOf = (name: string): string => `file:${name}`;

/**
 * The URL of a file for the next hour, and no longer than its task can be read. It stays the same for some minutes, so that a
 * client that polls sees no news.
 */
export async function urlOf(
  { owner, taskId, createdAt, ttl }: Pick<TaskRecord, 'owner' | 'taskId' | 'createdAt' | 'ttl'>,
  { id, digest, name }: Linked & { readonly name: string },
  { signer, now, url }: Pick<ServerContext, 'signer' | 'now' | 'url'>,
): Promise<string> {
  const { link, step } = limits.files;
  const until = Math.min(Math.ceil(now() / step) * step + link, createdAt + ttl);
  const end = pathName(name);
  const token = await signer.lock(purposeOf(end), [owner, taskId, id, digest, until]);
  return `${url}/${FILES}/${token}/${end}`;
}

/** Makes a function that puts fresh URLs into a text of this task, in place of its first links to files. */
export async function freshLinks(record: TaskRecord, text: string, server: ServerContext) {
  if (!text.includes(FILE_SCHEME)) return (same: string) => same;
  const urls = new Map<string, string>();
  let seen = 0;
  for (const [placeholder, id = '', digest = '', name = ''] of text.matchAll(PLACEHOLDER)) {
    if (++seen > MOST) break;
    if (!urls.has(placeholder)) urls.set(placeholder, await urlOf(record, { id, digest, name }, server));
  }
  return (same: string) => {
    let left = MOST;
    return same.replace(PLACEHOLDER, (placeholder) => (left-- > 0 && urls.get(placeholder)) || placeholder);
  };
}

/** The record with a fresh URL in its message, if a preview is in it. */
export async function withPreviewLink(record: TaskRecord, server: ServerContext): Promise<TaskRecord> {
  const { statusMessage } = record;
  if (statusMessage === undefined || !statusMessage.includes(FILE_SCHEME)) return record;
  return { ...record, statusMessage: (await freshLinks(record, statusMessage, server))(statusMessage) };
}

/** The file that the path of a URL names. Undefined: this server made no such URL. Throws if the signing key cannot be read. */
export async function placeOf(token: string, name: string, { signer }: Pick<ServerContext, 'signer'>) {
  const opened = await signer.unlock(purposeOf(name), token);
  if (!Array.isArray(opened)) return undefined;
  const [owner, taskId, id, digest, until] = opened;
  return { owner, taskId, id, digest, until } as Place;
}
