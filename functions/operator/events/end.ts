import type { Operator, Outcome } from '../acts/act.ts';
import type { OperatorContext } from '../context.ts';
import { NotAllowed, OperatorError } from '../errors.ts';
import { isDenied } from '../runs.ts';
import { subscriptionsOf } from './deliveries.ts';

/** Ends a subscription as its client does: what is queued for it is not sent. Throws OperatorError. */
export async function endSubscription(
  owner: string,
  id: string,
  { who, reason }: Operator,
  context: OperatorContext,
): Promise<Outcome> {
  const subscription = (await subscriptionsOf(owner, false, context)).find((one) => one.id === id);
  if (subscription === undefined) throw new OperatorError(`${owner} has no live subscription '${id}'`);
  const done = await context.events.end(owner, subscription).catch((error: unknown) => {
    if (!isDenied(error)) throw error;
    throw new NotAllowed(`The subscription ${id}`, 'act', 'end it');
  });
  const message = done ? 'It is ended: its client may subscribe again' : 'It was ended meanwhile';
  context.audit({
    act: 'unsubscribe',
    taskId: id,
    owner,
    tool: '',
    who,
    reason,
    done,
    outcome: done ? 'ended' : 'gone',
  });
  return { taskId: id, done, message };
}
