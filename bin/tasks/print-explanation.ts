import type { Explanation } from '../../functions/operator/explain/index.ts';
import { utc } from '../../functions/operator/view.ts';
import { oneLine, span } from './text.ts';

export function explanationText(
  { taskId, status, cause, because, row, endsBy, next, rerunRefusal, also }: Explanation,
  now: number,
): string {
  return [
    `Task ${taskId} is ${status}: ${cause}.`,
    ...because.map((sentence) => `  ${sentence}`),
    ...(row === '' ? [] : [`See       ${placeOf(row)}`]),
    ...(endsBy === undefined
      ? []
      : [`Ends by   ${utc(endsBy)}, ${endsBy > now ? `in ${span(endsBy - now)}` : 'which is over'}, whatever happens`]),
    ...next.map((command, i) => `${i === 0 ? 'Next      ' : '          '}${command}`),
    ...(rerunRefusal === undefined || status === 'completed' ? [] : [`No rerun  ${rerunRefusal}`]),
    ...also.map((sentence) => `Also      ${sentence}`),
  ]
    .map(oneLine)
    .join('\n');
}

/** Where a row is: in the crash table, by number or section, a rule of the protocol, or a page. */
function placeOf(row: string): string {
  if (row === 'A-19') return 'docs/protocol.md, A-19';
  if (row.startsWith('docs/')) return row;
  return `docs/crash-table.md, ${/^\d/.test(row) ? `row ${row}` : `"${row}"`}`;
}
