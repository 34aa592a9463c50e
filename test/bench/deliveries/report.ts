import { percentiles } from '../cloud/report.ts';
import type { Arm } from '../report/row.ts';
import { measureDeliveries } from './measure.ts';

const HOLD = 2_000;

/** How soon an MCP event of the embedded cloud reaches its receiver. */
export const deliveries: Arm = {
  title: 'MCP events',
  about:
    'From the end of a task to the first POST of its event, with four tasks at a time, each of an owner of its own. p50 / p95 / p99, once ' +
    'all functions run. The goal is 2 s at p99. A hold ends up to a second late: SQS counts whole seconds.',
  async run() {
    const atOnce = await measureDeliveries({ hold: 0, tasks: 200 });
    const held = await measureDeliveries({ hold: HOLD, tasks: 100 });
    return [
      { what: 'an event that is not held', measured: percentiles(atOnce) },
      { what: `an event that is held for ${HOLD / 1_000} s, from the end of the hold`, measured: percentiles(held) },
    ];
  },
};
