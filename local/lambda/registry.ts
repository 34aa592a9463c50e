import { functionNotFound } from './errors.ts';
import type { FunctionSpec } from './types.ts';

/** Finds a function by name, ARN or partial ARN, each with or without a qualifier, as AWS does. */
export function createRegistry<T>(entries: readonly { spec: FunctionSpec; value: T }[]): (nameOrArn: string) => T {
  const byName = new Map(entries.map((entry) => [entry.spec.name, entry]));
  if (byName.size < entries.length) throw new Error('Two functions have the same name.');
  return (nameOrArn) => {
    const found = byName.get(functionName(nameOrArn));
    if (!found || !sameArn(nameOrArn, found.spec.arn)) throw functionNotFound(nameOrArn);
    return found.value;
  };
}

function functionName(nameOrArn: string): string {
  const parts = nameOrArn.split(':');
  return parts[parts.indexOf('function') + 1] ?? nameOrArn;
}

function sameArn(nameOrArn: string, arn: string): boolean {
  return !nameOrArn.startsWith('arn:') || nameOrArn === arn || nameOrArn.startsWith(`${arn}:`);
}
