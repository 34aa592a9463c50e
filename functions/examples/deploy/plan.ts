export const STRATEGIES = ['rolling', 'canary', 'all-at-once'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface DeployArguments {
  readonly service: string;
  readonly region: string;
  readonly version: string;
  readonly replicas?: number | undefined;
}

/** What is confirmed in round 1 and carried out in round 2; it travels as the tool's request state. */
export interface Plan {
  readonly service: string;
  readonly region: string;
  readonly version: string;
  readonly replicas: number;
  /** For each strategy, the share of traffic (in percent) on the new version after each stage. */
  readonly stages: Readonly<Record<Strategy, readonly number[]>>;
}

export type Step =
  | { readonly kind: 'validate' | 'digest' | 'provision' | 'smoke'; readonly title: string }
  | { readonly kind: 'shift'; readonly title: string; readonly percent: number };

const DEFAULT_REPLICAS = 3;
const MOST_ROLLING_STAGES = 4;

export function planFor({ service, region, version, replicas = DEFAULT_REPLICAS }: DeployArguments): Plan {
  const stages = { rolling: rollingStages(replicas), canary: [5, 25, 100], 'all-at-once': [100] };
  return { service, region, version, replicas, stages };
}

/** Replica by replica, or in four equal stages when there are many. */
function rollingStages(replicas: number): number[] {
  const count = Math.min(replicas, MOST_ROLLING_STAGES);
  return Array.from({ length: count }, (_, stage) => Math.round((100 * (stage + 1)) / count));
}

export function stepsOf(plan: Plan, strategy: Strategy): Step[] {
  const { service, region, version, replicas } = plan;
  const copies = `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`;
  return [
    { kind: 'validate', title: `validate the manifest of ${service} ${version}` },
    { kind: 'digest', title: 'compute the content digest' },
    { kind: 'provision', title: `provision ${copies} in ${region}` },
    ...plan.stages[strategy].map((percent) => ({
      kind: 'shift' as const,
      title: `shift ${percent}% of the traffic to ${version}`,
      percent,
    })),
    { kind: 'smoke', title: `smoke-check ${copies}` },
  ];
}

/** The plan out of a request state, or undefined where there is none to trust. */
export function asPlan(state: unknown): Plan | undefined {
  if (typeof state !== 'object' || state === null) return undefined;
  const { service, region, version, replicas } = state as Partial<Plan>;
  const texts = [service, region, version].every((text) => typeof text === 'string');
  if (!texts || typeof replicas !== 'number') return undefined;
  return planFor({ service, region, version, replicas } as DeployArguments);
}
