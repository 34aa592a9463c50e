import { setBounded } from '../bounded-map.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { type ResultStore, ResultStoreError } from '../results/result-store.ts';
import { parsed } from '../shape.ts';
import { hashOf, type Input, refOf } from './moved-input.ts';

/**
 * Large input of open tasks (arguments, questions, answers): JSON text in S3, named by its hash. So a record stays
 * small even if its client or its tool sends much. See docs/deploying.md, "What it costs".
 */
export interface InputStore {
  /** Stores what `moved` took out of a record. Call it before the record refers to it. Throws ResultStoreError. */
  put(record: TaskRecord, text: string): Promise<void>;
  /** The record with its input, from S3 if it is there. Throws InputLost, ResultStoreError. */
  whole(record: TaskRecord): Promise<TaskRecord>;
}

/** The object that a record refers to is missing, or holds another text: no later attempt can read it. */
export class InputLost extends Error {
  override readonly name = 'InputLost';
}

/** How many texts stay in memory: as many as one stream of a session reads every second. */
const REMEMBERED = limits.sessionStream.tasks;

export function inputStore(objects: Pick<ResultStore, 'get' | 'put'>): InputStore {
  const known = new Map<string, string>();
  const remember = (sha256: string, text: string) => setBounded(known, sha256, text, REMEMBERED);
  const read = async ({ owner, taskId }: TaskRecord, sha256: string): Promise<string> => {
    const text = known.get(sha256) ?? (await objects.get({ owner, taskId, sha256 }).catch(lostIfGone));
    if (hashOf(text) !== sha256) throw new InputLost();
    remember(sha256, text);
    return text;
  };
  return {
    async put(record, text) {
      const { owner, taskId } = record;
      const sha256 = hashOf(text);
      await objects.put({ owner, taskId, sha256 }, text);
      remember(sha256, text);
    },
    async whole(record) {
      const { inputRef, ...rest } = record;
      if (inputRef === undefined) return record;
      const stored = parsed(await read(record, refOf(inputRef).sha256)) as Input;
      return { ...stored, ...rest, inputResponses: { ...stored.inputResponses, ...rest.inputResponses } };
    },
  };
}

function lostIfGone(error: unknown): never {
  if (error instanceof ResultStoreError && error.code === 'NoSuchKey') throw new InputLost();
  throw error;
}
