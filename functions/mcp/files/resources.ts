import { createHash } from 'node:crypto';
import { InternalError, InvalidParams, ResourceNotFound, TaskNotFound } from '../../tasks/errors.ts';
import { digestOf, fileKey } from '../../tasks/files/file.ts';
import { listPartition, taskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { Method } from '../context.ts';
import { openCursor } from '../read/cursor.ts';
import { placeOf, urlOf } from '../read/links.ts';
import { countLarge, readTask, visible } from '../read/read.ts';
import { resource, resourceContents } from '../wire/resources.ts';

/** Both revisions: the files of the tasks that this token may see; the newest task comes first. Cursors are signed. */
export const resourcesList: Method = async ({ params, principal, wire }, server) => {
  const owner = listPartition(principal);
  const purpose = `files:${owner}`;
  const after = owner && (await openCursor({ params }, { purpose, owner }, server));
  await server.pollLimit.countList(principal, server);
  // Each of its tasks has another owner.
  if (owner === undefined) return wire.result({ resources: [], ...wire.uncached });
  const { files, last } = await server.files.listFiles(owner, limits.files.page, after);
  const keys = [...new Map(files.map(({ taskId }) => [taskId, { owner, taskId }])).values()];
  const readAt = server.now();
  const stored = keys.length === 0 ? [] : await server.store.getMany(keys);
  const tasks = new Map(visible(principal, stored, readAt, server).map((record) => [record.taskId, record]));
  const resources = files.map(async ({ taskId, file }) => {
    const record = tasks.get(taskId);
    return record && resource(file, await urlOf(record, { ...file, digest: digestOf(file) }, server));
  });
  const nextCursor = last === undefined ? undefined : await server.signer.seal(purpose, last);
  return wire.result({
    resources: (await Promise.all(resources)).filter((one) => one !== undefined),
    ...(nextCursor !== undefined && { nextCursor }),
    ...wire.uncached,
  });
};

/** Both revisions: none. Clients ask for it where a server has resources. */
export const resourceTemplatesList: Method = async ({ wire }) =>
  wire.result({ resourceTemplates: [], ...wire.uncached });

/**
 * Both revisions: a file of up to 4 MB, by its link. A verified caller may bring an older link of its own; unknown, foreign and
 * expired ones give the same error.
 */
export const resourcesRead: Method = async ({ params, principal, wire }, server) => {
  const { uri } = params;
  if (typeof uri !== 'string') throw new InvalidParams('uri must be a string');
  const [token = '', name = ''] = uri.split('/').slice(-2);
  const place = uri.startsWith('http') ? await placeOf(token, name, server) : undefined;
  const key = place && taskKey(principal, place.taskId);
  const counts = principal.kind === 'verified' || server.now() < (place?.until ?? 0);
  if (place === undefined || key?.owner !== place.owner || !counts) {
    server.audit('denied', { owner: listPartition(principal), reason: 'file' });
    throw new ResourceNotFound(uri);
  }
  await readTask(principal, place.taskId, server, { polled: true }).catch((error: unknown) => {
    throw error instanceof TaskNotFound ? new ResourceNotFound(uri) : error;
  });
  const found = await server.files.read(fileKey(place, place.id), limits.files.read);
  if (found === 'too large') {
    throw new InvalidParams(`The file takes more than ${limits.files.read} bytes: open its link, which needs no token`);
  }
  await countLarge(principal, { bytes: found.bytes.length }, server);
  // The link of a result holds the hash, and no tool can change it once the task has ended.
  if (createHash('sha256').update(found.bytes).digest('base64url') !== place.digest) {
    server.log('file_altered', { taskId: place.taskId });
    throw new InternalError('The file is not the one that this link was made for', { reason: 'FileAltered' });
  }
  return wire.result({ contents: [resourceContents(uri, found.bytes, found.type)], ...wire.uncached });
};
