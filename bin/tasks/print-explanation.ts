import type { Explanation } from '../../functions/operator/explain/index.ts';
import { utc } from '../../functions/operator/view.ts';
import { oneLine, span } from './text.ts';

export function explanationText(
  { taskId, status, cause, because, row, endsBy, next, rerunRefusal, also }: Explanation,
  now: number,
): string {
  const place = /^[\dA-Z]/.test(row) && row.length < 6 ? `docs/crash-table.md, row ${row}` : row;
  return [
    `Task ${taskId} is ${status}: ${cause}.`,
    ...because.map((sentence) => `  ${sentence}`),
    ...(row === '' ? [] : [`See       ${row === 'A-19' ? 'docs/protocol.md, A-19' : place}`]),
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
