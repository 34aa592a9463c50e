import type { AwsError } from '../../aws-error.ts';
import { throttled } from '../errors.ts';
import type { FunctionSpec } from '../types.ts';
import type { Pool } from './pool.ts';

/** The default concurrency quota of an account. New accounts have less, often 10 ("Lambda quotas"). */
export const CONCURRENT_EXECUTIONS = 1_000;

/** The concurrency that reserves must leave, if the account has that much ("Configuring reserved concurrency"). */
const UNRESERVED = 100;

interface Member {
  readonly spec: FunctionSpec;
  readonly pool: Pick<Pool, 'load'>;
}

/**
 * Returns a function that says why Lambda refuses an invocation now; undefined if it accepts. An execution counts from
 * its acceptance to the end of its function, even if its caller is gone.
 *
 * @throws if the functions reserve more than Lambda allows
 */
export function concurrencyOf(members: readonly Member[], limit: number): (member: Member) => AwsError | undefined {
  if (!(Number.isInteger(limit) && limit > 0)) throw new Error(`${limit} cannot be a number of concurrent executions`);
  const reserving = members.filter(({ spec }) => spec.reservedConcurrency !== undefined);
  const shared = reserving.reduce((left, { spec }) => left - (spec.reservedConcurrency ?? 0), limit);
  const least = Math.min(UNRESERVED, limit);
  if (shared < least) {
    const names = reserving.map(({ spec }) => spec.name).join(', ');
    throw new Error(
      `Lambda refuses the reserved concurrency of ${names}: of the ${limit} concurrent executions of the account ` +
        `${least} must be left to other functions, and ${shared} are`,
    );
  }

  const load = ({ pool }: Member): number => pool.load().busy + pool.load().waiting;
  const used = (): number =>
    members.reduce((sum, member) => sum + (member.spec.reservedConcurrency === undefined ? load(member) : 0), 0);

  return (member) => {
    const { reservedConcurrency } = member.spec;
    if (reservedConcurrency === undefined) {
      return used() < shared ? undefined : throttled('ConcurrentInvocationLimitExceeded');
    }
    return load(member) < reservedConcurrency
      ? undefined
      : throttled('ReservedFunctionConcurrentInvocationLimitExceeded');
  };
}
