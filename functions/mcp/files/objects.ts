import type { FileReads } from '../../tasks/aws/s3-files.ts';

/** In ms. A client waits for the answer. */
const REQUEST = { requestTimeout: 5_000, attempts: 3 };

/** The files of tasks. The client is loaded for the first of them. */
export function filesOf(bucket: string): FileReads {
  let reads: FileReads | undefined;
  const loaded = async () => {
    reads ??= (await import('#mcp-task-server/s3-files')).fileReads(bucket, REQUEST);
    return reads;
  };
  return {
    presign: async (...asked) => (await loaded()).presign(...asked),
    read: async (...asked) => (await loaded()).read(...asked),
  };
}
