import type { ResolvedStack } from '../template/resources.ts';

export const DEFAULT_BUS = 'default';

/** From the name of each event bus to its ARN. Every account has a default one. */
export function readBuses(stacks: readonly ResolvedStack[], place: { readonly region: string; readonly account: string }): ReadonlyMap<string, string> {
  const resources = stacks.flatMap((stack) => stack.resources).filter(({ type }) => type === 'AWS::Events::EventBus');
  const ofDefault = `arn:aws:events:${place.region}:${place.account}:event-bus/${DEFAULT_BUS}`;
  return new Map([[DEFAULT_BUS, ofDefault], ...resources.map(({ name, arn = '' }) => [name, arn] as const)]);
}

/** A bus may be named by its ARN. */
export function busNameOf(nameOrArn: unknown): string {
  return nameOrArn === undefined ? DEFAULT_BUS : String(nameOrArn).replace(/^arn:[^/]*:event-bus\//, '');
}
