import type { FileUploads } from '../../tasks/aws/s3-files.ts';
import { dispositionOf, fileKey } from '../../tasks/files/file.ts';
import { DAY } from '../../tasks/limits.ts';
import { isDenied, runKeyOf, storeOf } from '../run-store.ts';
import type { FilesPort } from './port.ts';

const buckets = new Map<string, FileUploads>();
/** Timeout of one part, in milliseconds. */
const REQUEST = { requestTimeout: 60_000, attempts: 4 };

/** The files in Lambda: their content in S3, a note of each in the table. */
export const storedFiles: FilesPort = {
  async read(task) {
    try {
      return await (await storeOf(task)).readFiles(runKeyOf(task));
    } catch (error) {
      if (isDenied(error, 'Query')) return [];
      throw error;
    }
  },
  async upload(task, { id, name, type }, body, signal) {
    const objects = await bucketOf(task.results);
    await objects.upload({ key: fileKey(task, id), type, disposition: dispositionOf(name, type), body }, signal);
  },
  async add(task, file) {
    // A file is listed as long as its task may be read.
    return (await storeOf(task)).writeFile(runKeyOf(task), file, Number(task.maxTtl ?? DAY));
  },
};

/** The client is loaded for the first file. */
async function bucketOf(bucket: string): Promise<FileUploads> {
  const known = buckets.get(bucket);
  if (known !== undefined) return known;
  const { fileUploads } = await import('#mcp-task-server/s3-files');
  const objects = fileUploads(bucket, REQUEST);
  buckets.set(bucket, objects);
  return objects;
}
