import { expressLogs, isExpress } from '../runs.ts';
import type { TaskFacts } from './facts.ts';

/** The row of `rows.ts` for a task that works on Express. */
export const WORKS_ON_EXPRESS = {
  name: 'works on Express',
  row: 'docs/crash-table.md, "On Express"',
  fits: ({ record, seen, tool }: TaskFacts): boolean =>
    record.status === 'working' && seen?.status === 'working' && isExpress(record, tool),
  why: ({ record, tool }: TaskFacts): readonly string[] => [
    'It works on Express: AWS keeps no history of its run, so nothing can be asked about it.',
    ...(record.events?.some(({ what, round = 1 }) => what === 'restarted' && round === record.round)
      ? ['A run of this round has died: the sweep has started the round again.']
      : []),
    'A run that dies is started again within 8 minutes, until the deadline.',
    ...(tool?.express === true ? [`The log group of its runs: ${expressLogs(tool)}`] : []),
  ],
  next: (): readonly string[] => [
    'mcp-task-server tasks show ID',
    'mcp-task-server tasks logs ID',
    'mcp-task-server tasks cancel ID --reason TEXT',
  ],
} as const;
