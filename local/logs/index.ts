import { AwsError } from '../aws-error.ts';
import { numberOf, objectOf, stringOf } from '../json.ts';
import type { ResolvedStack } from '../template/resources.ts';
import type { Operations } from '../wire/types.ts';

/** Lines that are kept of each log group. */
const KEPT = 10_000;
/** "limit … The default is 10,000 events", "up to 1 MB of log events" (API reference of FilterLogEvents). */
const PAGE = 10_000;
const PAGE_BYTES = 1_000_000;
/** "startFromHead … false is supported only when startTime is on or after Jan 1, 2024" (same page). */
const BACKWARDS_FROM = Date.UTC(2024, 0);

/** CloudWatch Logs, as far as lines can be searched: the latest lines of each log group, in memory. */
export function createLogs(stacks: readonly ResolvedStack[], now: () => number) {
  const functions = stacks.flatMap(({ resources }) => resources.filter(({ type }) => type === 'AWS::Lambda::Function'));
  const groupOf = new Map(
    functions.map(({ name, properties }) => [
      name,
      stringOf(objectOf(properties.LoggingConfig).LogGroup) ?? `/aws/lambda/${name}`,
    ]),
  );
  const groups = new Map<string, { timestamp: number; message: string }[]>(
    [...groupOf.values()].map((group) => [group, []]),
  );
  for (const { resources } of stacks) {
    for (const { type, name } of resources)
      if (type === 'AWS::Logs::LogGroup') groups.set(name, groups.get(name) ?? []);
  }
  const operations: Operations = {
    async FilterLogEvents({ logGroupName, filterPattern, startTime, endTime, limit, nextToken, startFromHead }) {
      const lines = groups.get(String(logGroupName));
      if (lines === undefined)
        throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
      const from = numberOf(startTime) ?? 0;
      const until = numberOf(endTime) ?? Number.POSITIVE_INFINITY;
      const matches = matcher(stringOf(filterPattern) ?? '');
      const found = lines.filter(
        ({ timestamp, message }) => timestamp >= from && timestamp <= until && matches(message),
      );
      // "the direction of the nextToken is used"
      const [direction, at = '0'] = stringOf(nextToken)?.split('/') ?? [startFromHead === false ? 'back' : 'on'];
      if (startFromHead === false && from < BACKWARDS_FROM)
        throw new AwsError('InvalidParameterException', 'startFromHead: false needs a startTime of 2024 or later.');
      const rest = (direction === 'back' ? found.toReversed() : found).slice(Number(at));
      const page = pageOf(rest, Math.min(numberOf(limit) ?? PAGE, PAGE));
      return {
        events: page.map((line) => ({ ...line, logStreamName: 'local' })),
        ...(page.length < rest.length && { nextToken: `${direction}/${Number(at) + page.length}` }),
      };
    },
  };
  return {
    operations,
    keep(functionName: string, message: string): void {
      const lines = groups.get(groupOf.get(functionName) ?? '');
      if (lines === undefined) return;
      lines.push({ timestamp: now(), message });
      // Lines are cut only at twice the bound, so that each line is cheap.
      if (lines.length >= 2 * KEPT) lines.splice(0, lines.length - KEPT);
    },
  };
}

/** The first lines, as many as fit into a page, and at least one. */
function pageOf<T extends { readonly message: string }>(lines: readonly T[], most: number): readonly T[] {
  let bytes = 0;
  const end = lines.findIndex(({ message }, index) => {
    bytes += Buffer.byteLength(message);
    return index > 0 && (index >= most || bytes > PAGE_BYTES);
  });
  return end === -1 ? lines : lines.slice(0, end);
}

/**
 * Compiles a pattern: all its terms `"a text"` and `word` must be in the line, and one of the terms with `?` before them.
 * Other patterns are refused. docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
function matcher(pattern: string): (line: string) => boolean {
  const terms = [...pattern.matchAll(/(\??)(?:"((?:[^"\\]|\\.)*)"|([\w-]+))/g)];
  const rest = terms.reduce((text, [term]) => text.replace(term, ''), pattern);
  if (rest.trim() !== '')
    throw new AwsError('InvalidParameterException', `the embedded cloud does not know the pattern ${pattern}`);
  const texts = (optional: string) =>
    terms.flatMap(([, mark, quoted, word]) =>
      mark === optional ? [(quoted ?? word ?? '').replace(/\\(.)/g, '$1')] : [],
    );
  const [all, any] = [texts(''), texts('?')];
  return (line) =>
    all.every((text) => line.includes(text)) && (any.length === 0 || any.some((text) => line.includes(text)));
}
