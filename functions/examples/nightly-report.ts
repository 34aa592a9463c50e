import { defineTool } from 'mcp-task-server/tool';

const [TEXT, AMOUNT, COUNT] = [{ type: 'string' }, { type: 'number' }, { type: 'integer', minimum: 0 }] as const;
const CUSTOMERS = Array.from({ length: 200 }, (_, n) => `customer-${n + 1}`);
const AT_ONCE = 20;

/** Works through many customers, each in a step of its own, and hands the report over at six in the morning. */
export const handler = defineTool(
  {
    title: 'Nightly report',
    description: 'Sums up the orders of each customer, waits until 06:00 UTC, and then returns the report.',
    taskSupport: 'required',
    inputSchema: {
      type: 'object',
      properties: {
        customers: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 50 },
          minItems: 1,
          maxItems: 1_000,
          uniqueItems: true,
          description: 'Whose orders to sum up. Default: all 200 customers.',
        },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { customers: COUNT, orders: COUNT, total: AMOUNT, best: TEXT },
      required: ['customers', 'orders', 'total', 'best'],
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  async ({ customers = CUSTOMERS }, task) => {
    const total = customers.length;
    const rows = await task.map(
      'customer',
      customers,
      async (customer, index) => {
        await task.progress(`Customer ${index + 1}/${total}`, { progress: index, total });
        return ordersOf(customer);
      },
      { concurrency: AT_ONCE },
    );
    await task.sleep('until six', { until: nextSix(new Date()) });
    const best = rows.reduce((one, other) => (other.total > one.total ? other : one));
    const sum = (of: 'orders' | 'total') => rows.reduce((all, row) => all + row[of], 0);
    return { customers: total, orders: sum('orders'), total: sum('total'), best: best.customer };
  },
);

/** The next 06:00 UTC. A run after the sleep computes a later one; the task keeps the first. */
export function nextSix(now: Date): Date {
  const six = new Date(now);
  six.setUTCHours(now.getUTCHours() < 6 ? 6 : 24 + 6, 0, 0, 0);
  return six;
}

/** Stands for a query of the shop's database. */
function ordersOf(customer: string) {
  const drawn = [...customer].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7) >>> 0;
  return { customer, orders: drawn % 20, total: drawn % 5_000 };
}
