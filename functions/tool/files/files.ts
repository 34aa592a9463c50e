import { fileLink, isMediaType, nameProblem, newFileId, type StoredFile } from '../../tasks/files/file.ts';
import { limits } from '../../tasks/limits.ts';
import type { FileLink, TaskContext } from '../../tasks/tool-contract.ts';
import { ToolError } from '../errors.ts';
import { mayHavePast } from '../journal/journal.ts';
import type { Names } from '../journal/names.ts';
import { discard, type FileBody, type FileOptions, measuredBody } from './body.ts';
import type { FilesPort } from './port.ts';

export interface FileParts {
  readonly task: TaskContext | undefined;
  readonly names: Names;
  readonly port: FilesPort;
  readonly signal: AbortSignal;
  /** Throws if the run may not begin now what no run has done. */
  readonly begin: () => void;
  readonly mayStore: boolean;
}

/** The files of one run. */
export function openFiles({ task, names, port, signal, begin, mayStore }: FileParts) {
  let reading: Promise<Map<string, StoredFile>> | undefined;
  let uploads = 0;
  let preview: string | undefined;
  let hasNew = false;

  function stored(of: TaskContext): Promise<Map<string, StoredFile>> {
    reading ??= (mayHavePast(of) ? port.read(of) : Promise.resolve([])).then(
      (files) => new Map(files.map((file) => [file.name, file])),
      (error: unknown) => {
        // The next file reads again.
        reading = undefined;
        throw error;
      },
    );
    return reading;
  }

  async function upload(of: TaskContext, name: string, type: string, body: FileBody): Promise<StoredFile> {
    const { stream, measure } = measuredBody(name, typeof body === 'function' ? await body() : body);
    const id = newFileId();
    await port.upload(of, { id, name, type }, stream, signal);
    const file = { id, name, type, ...measure() };
    if (await port.add(of, file)) return file;
    // Another run has stored it first.
    return (await port.read(of)).find((one) => one.name === name) ?? file;
  }

  return {
    /** Whether this run has stored a file. */
    hasNew: () => hasNew,
    async store(name: string, body: FileBody, { contentType = 'application/octet-stream' }: FileOptions) {
      const problem = nameProblem(name) ?? (isMediaType(contentType) ? undefined : `'${contentType}' is no media type`);
      if (problem !== undefined) throw new ToolError(`File '${String(name).slice(0, 64)}': ${problem}`);
      if (task === undefined) throw new ToolError(`File '${name}': a call without a task has no files`);
      if (!mayStore) throw new Error(`File '${name}': say files: true in the definition of the tool`);
      return names.keep('file', name, `File '${name}'`, async () => {
        const files = await stored(task);
        const known = files.get(name);
        if (known !== undefined) {
          if (typeof body !== 'function') await discard(body);
          return fileLink(known);
        }
        const most = limits.files.most;
        if (files.size + uploads >= most) throw new ToolError(`File '${name}': a task has ${most} files at most`);
        begin();
        uploads++;
        try {
          const file = await upload(task, name, contentType, body);
          hasNew = true;
          files.set(name, file);
          return fileLink(file);
        } finally {
          uploads--;
        }
      });
    },
    /** Shows this file from now on. */
    show({ uri }: FileLink): void {
      preview = `Preview: ${uri}`;
    },
    /** The message, with the link to the preview behind it. It is cut, and the link is not. */
    withPreview(message: string): string {
      if (preview === undefined) return message;
      const room = limits.statusMessage - preview.length - 1;
      return message === '' ? preview : `${message.slice(0, room)}\n${preview}`;
    },
  };
}
