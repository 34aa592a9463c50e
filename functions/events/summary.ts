import { withFileNames } from '../tasks/files/file.ts';
import { limits } from '../tasks/limits.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { firstText, storedResult } from '../tasks/results/result-ref.ts';
import { isObject, parsed } from '../tasks/shape.ts';

/** What a record says of its end, or of its questions. */
type Said = { readonly [Field in 'status' | 'result' | 'error' | 'asked']?: TaskRecord[Field] | undefined };

/**
 * One line about a task whose tool has `eventSummary`: the first text of its result, why it failed, or what it asks first. Undefined
 * if the record does not hold it: a large result, or large questions, lie in S3, and are not read for this.
 */
export function summaryOf({ status, result = 'null', error = '', asked = '' }: Said): string | undefined {
  switch (status) {
    case 'completed': {
      const stored = storedResult(result);
      return lineOf(stored === undefined ? firstText(result) : stored.says);
    }
    case 'failed':
      return lineOf(member(parsed(error), 'message'));
    case 'input_required':
      return lineOf(firstQuestion(member(parsed(asked), 'inputRequests')));
    default:
      return undefined;
  }
}

function firstQuestion(requests: unknown): unknown {
  const messages = isObject(requests)
    ? Object.values(requests).map((one) => member(member(one, 'params'), 'message'))
    : [];
  return messages.find((message) => typeof message === 'string');
}

/** A text as one line, with names of files in place of their URLs, which end with the day. A character of several bytes is cut as a whole. */
function lineOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const line = withFileNames(text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const bytes = Buffer.from(line);
  const most = limits.mcpEvents.summary;
  if (bytes.length <= most) return bytes.toString() || undefined;
  return `${bytes
    .subarray(0, most - Buffer.byteLength(CUT))
    .toString()
    .replace(/\uFFFD+$/, '')}${CUT}`;
}

const CUT = '…';

const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
