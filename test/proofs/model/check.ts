import fc from 'fast-check';
import { run } from './run.ts';
import { scenarios as all, type Scenario } from './scenario.ts';
import { type Parts, REAL } from './simulation/simulation.ts';

export interface Asked {
  readonly runs: number;
  readonly seed: number;
  /** Of a counterexample: only that one is run. */
  readonly path?: string | undefined;
  readonly parts?: Partial<Parts>;
  /** @default of all kinds */
  readonly scenarios?: fc.Arbitrary<Scenario>;
  /** Looks for the smallest counterexample, too. @default true */
  readonly shrink?: boolean;
}

export interface Checked {
  readonly runs: number;
  readonly tasks: number;
  /** The first thing that must not happen, if it has. */
  readonly violation?: string;
  /** Where it has happened. */
  readonly scenario?: Scenario;
  /** The counterexample: how to see it again, and who did what in it, line by line. */
  readonly explained?: string;
}

/** Runs so many scenarios. The same seed, the same scenarios; the same scenario, the same run. */
export async function check({ runs, seed, path, parts, scenarios = all, shrink = true }: Asked): Promise<Checked> {
  const used = { ...REAL, ...parts };
  let tasks = 0;
  const property = fc.asyncProperty(scenarios, async (scenario) => {
    const { violation, simulation } = await run(scenario, used);
    tasks += simulation.truth.tasks.size;
    if (violation !== undefined) throw new Error(violation);
  });
  const result = await fc.check(property, {
    ...{ numRuns: runs, seed, endOnFailure: !shrink },
    ...(path !== undefined && { path }),
  });
  const [scenario] = result.counterexample ?? [];
  if (scenario === undefined) return { runs: result.numRuns, tasks };
  const { violation = '', lines } = await explain(scenario, used);
  const again = `npm run proof -- model --seed ${result.seed} --path ${result.counterexamplePath}`;
  const text = [violation, again, JSON.stringify(scenario), ...lines].join('\n');
  return { runs: result.numRuns, tasks, violation, scenario, explained: text };
}

/** What happens in a scenario, with short names for its tasks. */
export async function explain(scenario: Scenario, parts: Parts = REAL) {
  const lines: string[] = [];
  const { violation, simulation } = await run(scenario, parts, (line) => lines.push(line));
  const names = [...simulation.truth.tasks.keys()].map((taskId, i) => [taskId, `task-${i + 1}`] as const);
  const short = (line: string) => names.reduce((text, [taskId, name]) => text.replaceAll(taskId, name), line);
  return { violation: violation && short(violation), lines: lines.map(short) };
}
