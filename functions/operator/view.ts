import { asOf } from '../tasks/deadlines.ts';
import { isErrorName } from '../tasks/log.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { isKnown } from '../tasks/table/known-record.ts';
import type { StoredTask } from '../tasks/table/operator-reads.ts';

/** The record, if this release understands what is stored. */
export const recordOf = (stored: StoredTask): TaskRecord | undefined => {
  const item: unknown = stored;
  return isKnown(item) ? item : undefined;
};

/**
 * The record as every reader sees it at this moment. Undefined: past its ttl. Questions that were not read count as valid,
 * like those in S3, which were checked before they were moved there.
 */
export const seenNow = (record: TaskRecord, now: number): TaskRecord | undefined =>
  asOf({ inputRef: 'unread.0', ...record }, now);

/** `2026-11-22 13:00:05Z`. @param at in ms since the epoch */
export const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;

/** What a stored failure says: its message is one of the server. */
export function errorOf({
  error,
}: TaskRecord): { readonly code?: number; readonly message: string; readonly reason?: string } | undefined {
  if (error === undefined) return undefined;
  try {
    const { code, message, data } = JSON.parse(error) as {
      code?: number;
      message?: string;
      data?: { reason?: unknown };
    };
    return {
      message: message ?? '',
      ...(code !== undefined && { code }),
      ...(isErrorName(data?.reason) && { reason: data.reason }),
    };
  } catch {
    return { message: '' };
  }
}
