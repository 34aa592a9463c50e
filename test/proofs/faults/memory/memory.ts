import type { Cloud } from '../../../../local/cloud.ts';
import { heapBytes } from '../../../../local/testing.ts';

/** Memory over time: of each worker, and of the process that is the embedded cloud. All of it without garbage. */
export interface Memory {
  readonly sample: () => Promise<void>;
  /** The last sample, in one line. */
  line(): string;
  /** Each worker that lived for three minutes: in its second minute, and in its last. The process: what a task costs it. */
  report(): string;
  /** The problems, in words. */
  wrong(): string[];
}

interface Sample {
  /** Milliseconds since the beginning. */
  readonly at: number;
  readonly bytes: number;
}

interface ProcessSample extends Sample {
  readonly rss: number;
  readonly tasks: number;
}

interface Judged {
  readonly name: string;
  readonly second: number;
  readonly last: number;
}

const MINUTE = 60_000;
const MEGABYTE = 2 ** 20;
/**
 * In its last minute a worker may hold a fifth more than the largest worker of its function held in its second minute.
 * A worker that serves a tool for the first time loads late what the others have loaded before.
 */
const MOST = 1.2;
/** The process keeps the texts and events of the executions of each task, and the code that it compiles. */
const MOST_PER_TASK = 16 * 1024;
const MOST_CODE = 8 * MEGABYTE;
/** With fewer tasks even a large leak is smaller than the usual ups and downs of a worker's memory. */
const LEAST_TASKS = 1_000;

/** The functions of test/support/apps/app.ts that work for each task, by a part of their names. */
const ROLES = { endpoint: /Endpoint/, tool: /Tools/, reconciler: /Reconciler/ } as const;
type Role = keyof typeof ROLES;
const roles = Object.keys(ROLES) as Role[];

/** @param name of a function, or of one of its workers */
export const roleOf = (name: string): Role | undefined => roles.find((role) => ROLES[role].test(name));

interface Weighed {
  readonly lambda: Pick<Cloud['lambda'], 'heaps'>;
}

/** @param tasks how many have ended by now @param weigh what this process holds, in bytes */
export function createMemory(cloud: Weighed, tasks: () => number, weigh: () => number = heapBytes): Memory {
  const begun = performance.now();
  const workers = new Map<string, Sample[]>();
  const own: ProcessSample[] = [];

  const judged = (): Judged[] => [...workers].flatMap(([name, samples]) => judge(name, samples));
  const ofFunction = (name: string) => judged().filter((one) => functionOf(one.name) === functionOf(name));
  const grew = ({ name, last }: Judged) => last >= MOST * Math.max(...ofFunction(name).map(({ second }) => second));
  /** Of the process, since its first minute. */
  const growth = () => {
    const [from, to] = [own.find(({ at }) => at >= MINUTE), own.at(-1)];
    return from && to ? { bytes: to.bytes - from.bytes, tasks: to.tasks - from.tasks } : { bytes: 0, tasks: 0 };
  };

  return {
    async sample() {
      const at = performance.now() - begun;
      own.push({ at, bytes: weigh(), rss: process.memoryUsage().rss, tasks: tasks() });
      for (const { workerId, bytes } of await cloud.lambda.heaps()) {
        workers.set(workerId, [...(workers.get(workerId) ?? []), { at, bytes }]);
      }
    },
    line() {
      const { bytes = 0, rss = 0, at } = own.at(-1) ?? {};
      const last = [...workers].flatMap(([name, all]) => {
        const sample = all.at(-1);
        return sample?.at === at ? [`${name.slice(-16)} ${megabytes(sample?.bytes ?? 0)}`] : [];
      });
      return `MB: process ${megabytes(bytes)} (${megabytes(rss)} with all garbage and workers), ${last.join(', ')}`;
    },
    report() {
      const lines = judged().map(({ name, second, last }) =>
        [megabytes(second).padStart(8), megabytes(last).padStart(8), (last / second).toFixed(2).padStart(6), name].join(
          '  ',
        ),
      );
      const { bytes, tasks } = growth();
      const cost = `The process keeps ${megabytes(bytes)} MB of ${tasks} tasks, ${(bytes / 1024 / tasks).toFixed(1)} KB of each`;
      return ['minute 2      last   ratio  MB, medians of samples', ...lines, cost].join('\n');
    },
    wrong() {
      const { bytes, tasks } = growth();
      const unjudged = roles.filter((role) => !judged().some(({ name }) => roleOf(name) === role));
      return [
        ...unjudged.map((role) => `no worker of the ${role} lived for three minutes: its growth is not known`),
        ...judged()
          .filter(grew)
          .map(({ name, last }) => `${name} has grown to ${megabytes(last)} MB`),
        ...(bytes > MOST_CODE + tasks * MOST_PER_TASK ? ['the process keeps too much of each task'] : []),
        ...(tasks < LEAST_TASKS ? [`${tasks} tasks after the first minute are too few to see a leak by`] : []),
      ];
    },
  };
}

/** By its own age, so that one that replaced another is judged, too. */
function judge(name: string, samples: readonly Sample[]): Judged[] {
  const born = samples[0]?.at ?? 0;
  const died = samples.at(-1)?.at ?? 0;
  const between = (from: number, to: number) =>
    median(samples.filter(({ at }) => at - born >= from && at - born < to).map(({ bytes }) => bytes));
  const second = between(MINUTE, 2 * MINUTE);
  const last = between(Math.max(2 * MINUTE, died - born - MINUTE), Number.POSITIVE_INFINITY);
  return second === undefined || last === undefined ? [] : [{ name, second, last }];
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Workers are named by their function, and numbered. */
const functionOf = (name: string): string => name.replace(/-\d+$/, '');
const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1);
