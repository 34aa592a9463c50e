/** Every account has an event bus of this name. */
export const DEFAULT_BUS = 'default';

/** A bus may be named by its ARN. */
export function busNameOf(nameOrArn: unknown): string {
  return nameOrArn === undefined ? DEFAULT_BUS : String(nameOrArn).replace(/^arn:[^/]*:event-bus\//, '');
}
