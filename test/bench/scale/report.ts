import { simulateOwner } from './owner.ts';
import { measureSimpleTask } from './simple-task.ts';
import { firstAt, type Wall, wallsOfOwner, wallsOfServer } from './walls.ts';

/** The numbers of tasks a second in the page. */
const RATES = [100, 1_000, 10_000];
const MOST_OPEN = 1_000;

const number = (value: number): string => value.toLocaleString('en-US');
const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const ruleOf = ({ quota }: Wall): string => `[${quota.rule}](${quota.source})`;
const line = (wall: Wall): string => row(number(wall.from), named(wall), wall.takes, ruleOf(wall), wall.removedBy);
const named = ({ what, only }: Wall): string => (only === undefined ? what : `${what} (${only})`);

/** What is computed, and the tables of docs/limits.md. */
export async function scale() {
  const units = await measureSimpleTask();
  const owner = await simulateOwner(MOST_OPEN);
  const [walls, ofOwner] = [wallsOfServer(units), wallsOfOwner(owner)];
  const index = Object.values(units.indexes).reduce((sum, each) => sum + each, 0);
  const partitions = walls.filter(({ what }) => what.startsWith('a key of'));
  const firsts = RATES.map((tasks) => {
    const cell = (engine: 'Standard' | 'Express') => {
      const first = firstAt(walls, tasks, engine);
      return first === undefined ? 'nothing' : `${first.what}, from ${number(first.from)} on`;
    };
    const passed = walls.filter(({ from }) => from < tasks);
    const removed = passed.map((each) => `${named(each)}: ${each.removedBy.split(';')[0]}`);
    return row(number(tasks), cell('Standard'), cell('Express'), removed.join('; ') || 'nothing has to be');
  });
  const text = [
    `A simple task takes ${units.table} write units of the table and ${index} of its indexes. The rows are for default quotas in us-east-1, and`,
    'a task with one run of 10 s in Lambda and five polls. `npm run bench -- scale` computes them from the code of the table and the',
    'quotas of AWS.',
    '',
    row(
      'tasks a second',
      'first throttled on Standard',
      'first throttled on Express',
      'what removes all that throttle before',
    ),
    row('---', '---', '---', '---'),
    ...firsts,
    '',
    row('from tasks a second', 'what throttles', 'a task takes', 'rule of AWS', 'what removes it'),
    row('---', '---', '---', '---', '---'),
    ...walls.map(line),
    '',
    `One owner that may have ${number(MOST_OPEN)} open tasks, and calls more often than its tasks end (${number(Math.round(owner.open))} are open on average, ` +
      `${number(owner.most)} at most):`,
    '',
    row('from tasks a second', 'what throttles', 'a task takes', 'rule of AWS', 'what removes it'),
    row('---', '---', '---', '---', '---'),
    ...ofOwner.map(line),
  ].join('\n');
  return {
    text,
    indexUnits: index,
    /** Creates a second before write units throttle, in the partition of one owner, and in a key of an index. */
    ofOwner: Math.min(...ofOwner.filter(({ quota }) => quota.rule.includes('write units')).map(({ from }) => from)),
    ofServer: Math.min(...partitions.map(({ from }) => from)),
  };
}
