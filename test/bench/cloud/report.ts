import { digits } from '../report/page.ts';
import type { Arm } from '../report/row.ts';
import { measureCloud, type Spread } from './measure.ts';

/** The embedded cloud with 1 to 64 callers, in memory and on disk, and its start. */
export const embeddedCloud: Arm = {
  title: 'The embedded cloud',
  about:
    'Short tasks, each polled every 5 ms until it is done. p50 / p95 / p99. The client runs in another process of the same ' +
    'machine. Resident memory is compared after a garbage collection; of a short run it may shrink.',
  async run() {
    const { loads, start } = await measureCloud();
    const rows = loads.map((row) => ({
      what: `${row.callers} ${row.callers === 1 ? 'caller' : 'callers'}, ${row.durable ? 'on disk' : 'in memory'}`,
      measured:
        `${digits(row.tasksPerSecond)} tasks/s; create ${percentiles(row.create)}, poll ${percentiles(row.poll)}, task ${percentiles(row.task)}; ` +
        `${digits(row.megabytesPer1000Tasks)} MB for 1,000 tasks, ${digits(row.cpuMsPerTask)} ms of processor time for a task`,
    }));
    return [
      ...rows,
      { what: 'start from a finished assembly, until it listens', measured: percentiles(start.listens) },
      { what: 'the same, until its first task is done', measured: percentiles(start.firstTask) },
    ];
  },
};

export const percentiles = ({ p50, p95, p99 }: Spread) => `${[p50, p95, p99].map(digits).join(' / ')} ms`;
