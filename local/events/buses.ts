import { DEFAULT_BUS } from '../bus-name.ts';
import { partitionOf } from '../partition.ts';
import type { ResolvedStack } from '../template/resources.ts';

/** From the name of each event bus to its ARN. Every account has a default one. */
export function readBuses(
  stacks: readonly ResolvedStack[],
  place: { readonly region: string; readonly account: string },
): ReadonlyMap<string, string> {
  const resources = stacks.flatMap((stack) => stack.resources).filter(({ type }) => type === 'AWS::Events::EventBus');
  const ofDefault = `arn:${partitionOf(place.region)}:events:${place.region}:${place.account}:event-bus/${DEFAULT_BUS}`;
  return new Map([[DEFAULT_BUS, ofDefault], ...resources.map(({ name, arn = '' }) => [name, arn] as const)]);
}
