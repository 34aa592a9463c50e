import type { Cloud } from '../../../local/cloud.ts';

/** Memory over time: of each worker, and of the process with all of them in it. */
export interface Memory {
  readonly sample: () => Promise<void>;
  /** The last sample, in one line. */
  line(): string;
  /** The second minute and the last one, of each worker that has seen both. */
  report(): string;
  /**
   * Whether each of those workers uses no more than a fifth more in the end than any of its function did in the second
   * minute: one that comes late to a tool loads then what the others have loaded.
   */
  isFlat(): boolean;
}

interface Sample {
  readonly minute: number;
  readonly bytes: number;
}

const MINUTE = 60_000;
const MEGABYTE = 2 ** 20;
const MOST = 1.2;
const PROCESS = 'the process, with all tables and executions';

export function createMemory(cloud: Cloud): Memory {
  const begun = performance.now();
  const samples = new Map<string, Sample[]>();
  const keep = (name: string, bytes: number) => {
    const minute = Math.floor((performance.now() - begun) / MINUTE) + 1;
    samples.set(name, [...(samples.get(name) ?? []), { minute, bytes }]);
  };
  const lastMinute = () => Math.max(0, ...[...samples.values()].flat().map(({ minute }) => minute));
  const compared = () =>
    [...samples].flatMap(([name, all]) => {
      const of = (minute: number) => median(all.filter((one) => one.minute === minute).map(({ bytes }) => bytes));
      const [second, last] = [of(2), of(lastMinute())];
      return second === undefined || last === undefined ? [] : [{ name, second, last, ratio: last / second }];
    });
  const workers = () => compared().filter(({ name }) => name !== PROCESS);
  const ofFunction = (name: string) => workers().filter((one) => functionOf(one.name) === functionOf(name));
  const isFlat = ({ name, last }: { name: string; last: number }) =>
    last < MOST * Math.max(...ofFunction(name).map(({ second }) => second));

  return {
    async sample() {
      keep(PROCESS, process.memoryUsage().rss);
      for (const { workerId, bytes } of await cloud.lambda.heaps()) keep(workerId, bytes);
    },
    line() {
      const last = [...samples].map(([name, all]) => `${short(name)} ${megabytes(all.at(-1)?.bytes ?? 0)}`);
      return `MB: ${last.join(', ')}`;
    },
    report() {
      const lines = compared().map(({ name, second, last, ratio }) =>
        [megabytes(second).padStart(8), megabytes(last).padStart(8), ratio.toFixed(2).padStart(6), name].join('  '),
      );
      return ['minute 2      last   ratio  MB, medians of samples', ...lines].join('\n');
    },
    isFlat: () => lastMinute() > 2 && workers().length > 0 && workers().every(isFlat),
  };
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Workers are named by their function, and numbered. */
const functionOf = (name: string): string => name.replace(/-\d+$/, '');
const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1);
/** Names of functions are long: their end tells them apart. */
const short = (name: string): string => (name === PROCESS ? 'process' : name.slice(-16));
