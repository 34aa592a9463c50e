import { limits } from '../tasks/limits.ts';
import { isQuestion } from '../tasks/questions/question.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { isOf } from '../tasks/results/result-ref.ts';
import { has, isNumber, isObject, oneKindOf, parsed } from '../tasks/shape.ts';
import type { StoredWait } from '../tasks/tool-contract.ts';
import type { SignalsContext } from './context.ts';

export type LinkWait = Extract<StoredWait, { kind: 'link' }>;
export type WebhookWait = Extract<StoredWait, { kind: 'webhook' }>;

/** A tool writes it, so it is checked. */
const isSignalled = oneKindOf('kind', {
  link: has({ until: isNumber, question: (question) => isQuestion(question) && isForm(question.params) }),
  webhook: has({ until: isNumber }, { schema: isObject }),
});
const isForm = (params: unknown): boolean => isObject(params) && isObject(params.requestedSchema);

/**
 * What the tool has stored of a link or webhook before it gave its URL away. Strongly consistent. Undefined: it has none of this
 * name. Throws ResultStoreError, and errors of DynamoDB.
 */
export async function readWait(
  { owner, taskId, round, deadlineAt }: TaskRecord,
  name: string,
  { journal, values }: SignalsContext,
): Promise<LinkWait | WebhookWait | undefined> {
  if ([...name].length > limits.waits.name) return undefined;
  const entry = await journal.readEntry({ owner, taskId, round, deadline: deadlineAt }, { kind: 'wait', name });
  const { bytes = 0, sha256 } = entry ?? {};
  const text =
    sha256 === undefined ? entry?.value : await values.get({ owner, taskId, entryValue: sha256 }).then(checked);
  const wait = parsed(text ?? '');
  return isSignalled(wait) ? (wait as LinkWait | WebhookWait) : undefined;

  // Every tool of the server can write to its place.
  function checked(read: string): string | undefined {
    return isOf({ bytes, sha256: sha256 ?? '' }, read) ? read : undefined;
  }
}
