import { sufficient } from '../authorizer/scopes.ts';
import type { EventFacts } from '../tasks/table/events/log.ts';
import type { MatchedSubscription } from '../tasks/table/events/subscription.ts';

/** Which events somebody asked for, and may see. */
export type Filter = Pick<MatchedSubscription, 'name' | 'arguments' | 'scopes'>;

/** Whether an event is one of these: by its name, each argument that was given, and the scopes of its tool. */
export function matches(facts: EventFacts, { name, arguments: args, scopes }: Filter): boolean {
  const given = ['taskId', 'tool', 'status'] as const;
  const isWanted = facts.name === name && given.every((arg) => args[arg] === undefined || args[arg] === facts[arg]);
  return isWanted && sufficient(facts.scopes ?? [], scopes);
}
