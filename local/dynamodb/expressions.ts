import { AwsError } from '../aws-error.ts';
import { parseInput } from '../wire/server.ts';

const MOST_BYTES = 4_096;
const KINDS = ['Update', 'Condition', 'Filter', 'KeyCondition', 'Projection'] as const;

/** Refuses an expression that is too long for AWS, which counts the text as sent. dynalite takes any length. */
export function checkExpressions(body: Buffer): void {
  // Most requests are too short to contain an expression that long.
  if (body.length <= MOST_BYTES) return;
  const input = parseInput(body);
  for (const kind of KINDS) {
    const text = input[`${kind}Expression`];
    const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0;
    if (bytes <= MOST_BYTES) continue;
    const problem = `Expression size has exceeded the maximum allowed size; expression size: ${bytes}`;
    throw new AwsError('ValidationException', `Invalid ${kind}Expression: ${problem}`);
  }
}
