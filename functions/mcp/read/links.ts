import { FILE_SCHEME, pathName } from '../../tasks/files/file.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';

/** The path of files, behind the URL of the server. */
const FILES = 'files';
const PLACEHOLDER = new RegExp(`${FILE_SCHEME}([A-Za-z0-9_-]{22})/([A-Za-z0-9._-]{1,60})`, 'g');
/** Most placeholders of one text: a tool may repeat one a million times. */
const MOST = 10 * limits.files.most;

/** What a URL says of its file. No reader of the URL sees it, and so the URL does not tell the id of a task. */
interface Place extends TaskKey {
  readonly id: string;
  /** In ms since the epoch. */
  readonly until: number;
}

/** The end of the path binds what is before it. */
const purposeOf = (name: string): string => `file:${name}`;

/**
 * The URL of a file for the next hour, and no longer than its task can be read. It stays the same for some minutes, so that a
 * client that polls sees no news.
 */
export async function urlOf(
  { owner, taskId, createdAt, ttl }: Pick<TaskRecord, 'owner' | 'taskId' | 'createdAt' | 'ttl'>,
  { id, name }: { readonly id: string; readonly name: string },
  { signer, now, url }: Pick<ServerContext, 'signer' | 'now' | 'url'>,
): Promise<string> {
  const { link, step } = limits.files;
  const until = Math.min(Math.ceil(now() / step) * step + link, createdAt + ttl);
  const end = pathName(name);
  const token = await signer.lock(purposeOf(end), [owner, taskId, id, until]);
  return `${url}/${FILES}/${token}/${end}`;
}

/** Makes a function that puts fresh URLs into a text of this task, in place of its links to files. */
export async function freshLinks(record: TaskRecord, text: string, server: ServerContext) {
  if (!text.includes(FILE_SCHEME)) return (same: string) => same;
  const urls = new Map<string, string>();
  for (const [placeholder, id = '', name = ''] of text.matchAll(PLACEHOLDER)) {
    if (urls.size === MOST) break;
    if (!urls.has(placeholder)) urls.set(placeholder, await urlOf(record, { id, name }, server));
  }
  return (same: string) => same.replace(PLACEHOLDER, (placeholder) => urls.get(placeholder) ?? placeholder);
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
  const [owner, taskId, id, until] = opened;
  return { owner, taskId, id, until } as Place;
}
