import { traitsOf } from '../../tasks/engines.ts';
import type { TaskFacts } from './facts.ts';
import { works } from './working.ts';

const next = (): readonly string[] => [
  'mcp-task-server tasks show ID',
  'mcp-task-server tasks logs ID',
  'mcp-task-server tasks cancel ID --reason TEXT',
];

/** The rows of `rows.ts` for tasks whose round is on Express. */
export const EXPRESS_ROWS = [
  {
    name: 'works on Express',
    row: 'docs/crash-table.md, "On Express"',
    fits: (facts: TaskFacts) => works(facts) && !traitsOf(facts.record).hasHistory,
    why: ({ record, tool, runLogs }: TaskFacts): readonly string[] => [
      'It works on Express: AWS keeps no history of its run, so nothing can be asked about it.',
      ...(record.events.some(({ what, round = 1 }) => what === 'restarted' && round === record.round)
        ? ['A run of this round has died: the sweep starts the round again.']
        : []),
      tool?.repeatable === false
        ? 'If its run dies, the task fails: its tool may not be repeated any more.'
        : 'A run that dies is started again within 8 minutes, until the deadline.',
      `The log group of its runs: ${runLogs}`,
    ],
    next,
  },
] as const;
