import type { StoredFile } from '../../tasks/files/file.ts';
import type { FilesPort } from './port.ts';

/** A file that a tool has stored in a test. */
export interface TestFile extends Omit<StoredFile, 'id' | 'name'> {
  readonly content: Uint8Array;
}

/** Files in memory, for unit tests. */
export function memoryFiles(): FilesPort & { readonly all: () => Readonly<Record<string, TestFile>> } {
  const contents = new Map<string, Uint8Array>();
  const files: StoredFile[] = [];
  return {
    read: async () => files,
    async upload(_task, { id }, body) {
      contents.set(id, Buffer.concat(await body.toArray()));
    },
    async add(_task, file) {
      if (files.some(({ name }) => name === file.name)) return false;
      files.push(file);
      return true;
    },
    all: () =>
      Object.fromEntries(
        files.map(({ id, name, ...file }) => [name, { ...file, content: contents.get(id) ?? new Uint8Array() }]),
      ),
  };
}
