import { isSeen } from '../../tasks/transitions/run.ts';
import { hasHistory, runLogsOf } from '../runs.ts';
import type { TaskFacts } from './facts.ts';

const works = ({ record, seen, tool }: TaskFacts): boolean =>
  record.status === 'working' && seen?.status === 'working' && !hasHistory(record, tool);
const next = (): readonly string[] => [
  'mcp-task-server tasks show ID',
  'mcp-task-server tasks logs ID',
  'mcp-task-server tasks cancel ID --reason TEXT',
];

/** The rows of `rows.ts` for tasks whose round is on Express, or whose tool is there now. */
export const EXPRESS_ROWS = [
  {
    name: 'works on Express',
    row: 'docs/crash-table.md, "On Express"',
    fits: (facts: TaskFacts) => works(facts) && facts.record.express === true,
    why: ({ record, tool }: TaskFacts): readonly string[] => [
      'It works on Express: AWS keeps no history of its run, so nothing can be asked about it.',
      ...(record.events?.some(({ what, round = 1 }) => what === 'restarted' && round === record.round)
        ? ['A run of this round has died: the sweep starts the round again.']
        : []),
      tool?.repeatable === false
        ? 'If its run dies, the task fails: its tool may not be repeated any more.'
        : 'A run that dies is started again within 8 minutes, until the deadline.',
      ...[runLogsOf(record, tool)].flatMap((logs) =>
        logs === undefined ? [] : [`The log group of its runs: ${logs}`],
      ),
    ],
    next,
  },
  {
    name: 'began on Standard, its tool is on Express now',
    row: '23',
    fits: works,
    why: ({ record }: TaskFacts): readonly string[] => [
      'A deployment changed the engine of its tool and deleted the workflow of this run: nothing can be asked about it.',
      record.round === 1 || isSeen(record)
        ? 'Nothing starts it again: it may have done its work. The event of its run, or its deadline, ends the task.'
        : 'Its round was not seen to run: the sweep starts it on Express at its next check.',
    ],
    next,
  },
] as const;
