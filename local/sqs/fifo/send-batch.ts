import { AwsError } from '../../aws-error.ts';
import { type JsonObject, listOf, objectOf, stringOf } from '../../json.ts';
import { refuse } from '../send.ts';
import type { FifoQueue } from './queue.ts';
import { known, sendMessage } from './requests.ts';

/** "The maximum allowed … total payload size": 256 KiB until August 2025, 1 MiB since; the lower one holds here. */
const MOST_BYTES = 262_144;
/** "You can use SendMessageBatch to send up to 10 messages" (API reference of SendMessageBatch). */
const MOST_ENTRIES = 10;
/** "Identifiers … can have up to 80 characters: alphanumeric characters, hyphens(-), and underscores (_)" (same page). */
const ID = /^[\w-]{1,80}$/;

/** Sends each entry by itself: one may fail while others do not. */
export function sendMessageBatch(queue: FifoQueue, input: JsonObject, hops: number): JsonObject {
  known(input, 'Entries', 'SendMessageBatch');
  const entries = listOf(input.Entries).map(objectOf);
  const ids = entries.map(({ Id }) => stringOf(Id) ?? '');
  if (entries.length === 0) refuse('EmptyBatchRequest', 'There should be at least one SendMessageBatchRequestEntry.');
  if (entries.length > MOST_ENTRIES) {
    refuse(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are 10. You have sent ${ids.length}.`,
    );
  }
  if (!ids.every((id) => ID.test(id))) {
    const why =
      'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80';
    refuse('InvalidBatchEntryId', `${why} letters long.`);
  }
  if (new Set(ids).size < ids.length) refuse('BatchEntryIdsNotDistinct', 'Two or more batch entries have the same Id.');
  const bytes = entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(String(MessageBody)), 0);
  if (bytes > MOST_BYTES) {
    refuse(
      'BatchRequestTooLong',
      `Batch requests cannot be longer than ${MOST_BYTES} bytes. You have sent ${bytes} bytes.`,
    );
  }
  const Successful: JsonObject[] = [];
  const Failed: JsonObject[] = [];
  for (const { Id, ...entry } of entries) {
    try {
      Successful.push({ Id, ...sendMessage(queue, entry, hops) });
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      Failed.push({ Id, SenderFault: true, Code: error.type, Message: error.message });
    }
  }
  return { ...(Successful.length > 0 && { Successful }), ...(Failed.length > 0 && { Failed }) };
}
