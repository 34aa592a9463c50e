import type { OperatorContext } from '../../../functions/operator/context.ts';
import { subscriptionsOf } from '../../../functions/operator/events/deliveries.ts';
import { endSubscription } from '../../../functions/operator/events/end.ts';
import { findTask } from '../../../functions/operator/find.ts';
import { utc } from '../../../functions/operator/view.ts';
import type { SubscriptionRead } from '../../../functions/tasks/table/operators/events.ts';
import { type Arguments, textOf } from '../options.ts';
import type { Terminal } from '../terminal.ts';
import { oneLine, span, table } from '../text.ts';
import { UsageError } from '../usage-error.ts';

type SubscriptionVerb = 'subscriptions' | 'unsubscribe';

/** Lists the subscriptions of an owner, or ends one. Returns the exit code. */
export async function onSubscriptions(
  { verb, words, values }: Arguments & { readonly verb: SubscriptionVerb },
  context: OperatorContext,
  { out }: Terminal,
): Promise<number> {
  const [word, ...more] = words;
  const given = textOf(values.owner);
  if (more.length > 0) throw new UsageError(`${verb} takes one id`);
  const print = (json: object, text: string) => out(`${values.json === true ? JSON.stringify(json) : text}\n`);
  if (verb === 'unsubscribe') {
    if (word === undefined || given === undefined) throw new UsageError('unsubscribe takes a subscription and --owner');
    const reason = textOf(values.reason) ?? (textOf(values.stack) === undefined ? 'by hand, in dev' : undefined);
    if (reason === undefined) throw new UsageError('unsubscribe is audited: give --reason TEXT');
    const outcome = await endSubscription(given, word, { who: await context.who(), reason }, context);
    print(outcome, oneLine(outcome.message));
    return outcome.done ? 0 : 1;
  }
  const found = await listSubscriptions({ taskId: word, owner: given, payload: values.payload === true }, context);
  const now = context.now();
  const rows = found.subscriptions.map((one) => rowOf(one, now));
  print(found, rows.length === 0 ? oneLine(`${found.owner} has none`) : table([HEAD, ...rows]));
  return 0;
}

interface Whose {
  readonly taskId?: string | undefined;
  readonly owner?: string | undefined;
  /** With the URLs. */
  readonly payload: boolean;
}

/** The live subscriptions of an owner, or of the owner of a task. Throws UsageError, OperatorError. */
export async function listSubscriptions({ taskId, owner: given, payload }: Whose, context: OperatorContext) {
  if ((taskId === undefined) === (given === undefined)) {
    throw new UsageError('subscriptions takes the id of one task, or --owner');
  }
  const owner = given ?? (await findTask(taskId ?? '', undefined, context.reads)).owner;
  return { owner, subscriptions: await subscriptionsOf(owner, payload, context) };
}

const HEAD = ['SUBSCRIPTION', 'EVENT', 'OF', 'UNTIL', 'STATE', 'URL'];

function rowOf(
  { id, name, arguments: args, refreshBefore, url = '', ...state }: SubscriptionRead,
  now: number,
): string[] {
  const of = Object.entries(args).map(([key, value]) => `${key}=${value}`);
  return [id, name, of.join(' ') || 'all tasks', utc(refreshBefore), stateOf(state, now), url];
}

function stateOf(
  { failedSince, lastError, lastDeliveryAt }: Pick<SubscriptionRead, 'failedSince' | 'lastError' | 'lastDeliveryAt'>,
  now: number,
): string {
  if (failedSince !== undefined) return `fails for ${span(now - failedSince)}: ${lastError}`;
  return lastDeliveryAt === undefined ? 'nothing sent yet' : `last sent ${span(now - lastDeliveryAt)} ago`;
}
