import type { FoundLogs } from '../../functions/operator/logs.ts';
import { utc } from '../../functions/operator/view.ts';
import { oneLine } from './text.ts';

export function logsText({ lines, hidden }: FoundLogs): string {
  const shown = lines.map(({ at, source, line }) => `${utc(at)}  ${source.padEnd(10)}  ${line}`);
  const note = hidden.length === 0 ? [] : [`Not shown: ${hidden.join('; ')}`];
  return [...(shown.length === 0 ? ['No line.'] : shown), ...note].map(oneLine).join('\n');
}
