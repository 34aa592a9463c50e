import type { BucketResource } from '../template/specs.ts';
import type { ObjectFacts } from './objects.ts';

const DAY = 86_400_000;

/** Counts as S3 does: the given days after the write, rounded up to the next midnight UTC. */
export function isExpired(
  { key, modifiedAt }: Pick<ObjectFacts, 'key' | 'modifiedAt'>,
  rules: BucketResource['expirations'],
  now: number,
): boolean {
  return rules.some(
    ({ prefix, days }) => key.startsWith(prefix) && now >= Math.ceil((modifiedAt + days * DAY) / DAY) * DAY,
  );
}
