import type { Readable } from 'node:stream';
import type { StoredFile } from '../../tasks/files/file.ts';
import type { TaskContext } from '../../tasks/tool-contract.ts';

/** Where the runs of a task keep its files. */
export interface FilesPort {
  /** The files that runs of the task have stored. */
  read(task: TaskContext): Promise<readonly StoredFile[]>;
  /** Stores the content of a file. No reader sees it yet. */
  upload(
    task: TaskContext,
    file: Pick<StoredFile, 'id' | 'name' | 'type'>,
    body: Readable,
    signal: AbortSignal,
  ): Promise<void>;
  /** Shows a file whose content is stored. False: the task has a file of this name, which counts. */
  add(task: TaskContext, file: StoredFile): Promise<boolean>;
}

const none = async (): Promise<never> => {
  throw new Error('A call without a task has no files');
};

/** The port for a call without a task. */
export const noFiles: FilesPort = { read: none, upload: none, add: none };
