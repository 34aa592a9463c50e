import { CsvError, parse } from 'csv-parse/sync';
import { defineTool, elicitForm, type Task, ToolError } from 'mcp-task-server/tool';
import { max, median, min, quantile } from 'simple-statistics';

const [TEXT, NUMBER, COUNT] = [{ type: 'string' }, { type: 'number' }, { type: 'integer', minimum: 0 }] as const;
const PROFILE = {
  type: 'object',
  properties: { name: TEXT, missing: COUNT, distinct: COUNT, most: TEXT, min: NUMBER, median: NUMBER, max: NUMBER },
  required: ['name', 'missing', 'distinct'],
} as const;
const CSV = 'The CSV, with the names of its columns in the first row. Default: a sample, 1,000 orders of a shop.';
const COLUMNS = 'The columns to profile. Default: the tool asks. A client that cannot be asked gets the first 50.';

/** Works in steps and asks twice. Each answer starts it from the top, and no finished step runs again. */
export const handler = defineTool(
  {
    title: 'Profile a dataset',
    description: 'Profiles a CSV column by column. Asks for the columns, then if the rows with outliers are wanted.',
    taskSupport: 'optional',
    inputSchema: {
      type: 'object',
      properties: {
        csv: { type: 'string', minLength: 1, maxLength: 100_000, description: CSV },
        columns: { type: 'array', items: TEXT, minItems: 1, maxItems: 50, uniqueItems: true, description: COLUMNS },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { rows: COUNT, columns: { type: 'array', items: PROFILE }, outliers: COUNT },
      required: ['rows', 'columns', 'outliers'],
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  async ({ csv = orders(), columns: wanted }, task) => {
    const [names = [], ...rows] = readTable(csv);
    const chosen = wanted ?? (await askColumns(names, task));
    const total = chosen.length;
    const columns = [];
    for (const [progress, name] of chosen.entries()) {
      const at = names.indexOf(name);
      if (at < 0) throw new ToolError(`No such column: ${name}. The columns are ${names.join(', ')}.`);
      await task.progress(`Profiling ${name} (${progress + 1}/${total})`, { progress, total });
      const column = await task.step(`column ${at}`, () => {
        const { profile, outliers } = profileOf(rows.map((row) => row[at] ?? ''));
        const known = task.getVariable<number[]>('outliers') ?? [];
        task.setVariable('outliers', [...new Set([...known, ...outliers])]);
        return { name, ...profile };
      });
      columns.push(column);
    }
    const outliers = task.getVariable<number[]>('outliers') ?? [];
    const lines = columns.map((column) => JSON.stringify(column));
    if (await askAppendix(outliers, task)) lines.push(...outliers.map((row) => JSON.stringify(rows[row])));
    const text = `Profile of ${rows.length} rows, ${outliers.length} of them with outliers:\n${lines.join('\n')}`;
    const structuredContent = { rows: rows.length, columns, outliers: outliers.length };
    return { content: [{ type: 'text', text }], structuredContent };
  },
);

const canAsk = ({ accepts }: Task): boolean => accepts.includes('elicitation/create');

async function askColumns(names: readonly string[], task: Task): Promise<readonly string[]> {
  const all = [...new Set(names)].slice(0, 50);
  if (!canAsk(task)) return all;
  const items = { type: 'string', enum: all } as const;
  const question = elicitForm('Which columns to profile?', { columns: { type: 'array', items, minItems: 1 } });
  const { columns } = await task.requireInput({ columns: question });
  if (columns.action !== 'accept') throw new ToolError('Nothing was profiled, as no columns were chosen.');
  return columns.content.columns;
}

async function askAppendix(outliers: readonly number[], task: Task): Promise<boolean> {
  if (outliers.length === 0 || !canAsk(task)) return false;
  const question = elicitForm(`Append the ${outliers.length} rows with outliers?`, { append: { type: 'boolean' } });
  const { appendix } = await task.requireInput({ appendix: question });
  return appendix.action === 'accept' && appendix.content.append;
}

function readTable(csv: string): string[][] {
  try {
    return parse(csv, { bom: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    throw error instanceof CsvError ? new ToolError(`The CSV is malformed: ${error.message}`) : error;
  }
}

/** An outlier lies more than 1.5 interquartile ranges outside the quartiles. */
function profileOf(column: readonly string[]) {
  const groups = Object.entries(Object.groupBy(column.filter(Boolean), (value) => value));
  const found = { missing: column.filter((value) => value === '').length, distinct: groups.length };
  const numbers = column.filter(Boolean).map(Number);
  if (numbers.length === 0 || !numbers.every(Number.isFinite)) {
    const [most = ''] = groups.sort(([, a = []], [, b = []]) => b.length - a.length)[0] ?? [];
    return { profile: { ...found, most: most.slice(0, 100) }, outliers: [] };
  }
  const [low, high] = [quantile(numbers, 0.25), quantile(numbers, 0.75)];
  const isOutlier = (value: string) => value !== '' && Math.abs(Number(value) - (low + high) / 2) > 2 * (high - low);
  const outliers = column.flatMap((value, row) => (isOutlier(value) ? [row] : []));
  return { profile: { ...found, min: min(numbers), median: median(numbers), max: max(numbers) }, outliers };
}

function orders(): string {
  const rows = Array.from({ length: 1_000 }, (_, order) => {
    const drawn = Math.imul(order + 1, 2_654_435_761) >>> 0;
    const total = (drawn % 50 === 0 ? 900 : 10) + (drawn % 71);
    return `${total},${['DE', 'FR', 'PL', 'SE', 'US'][drawn % 5]},${['', '1', '2', '4', '5'][drawn % 7] ?? ''}`;
  });
  return ['total,country,rating', ...rows].join('\n');
}
