import { ToolError } from 'mcp-task-server/tool';
import type { DeployArguments, Strategy } from './definition.ts';

/** What is confirmed, and then carried out: the same arguments give the same plan. */
export interface Plan extends Required<DeployArguments> {
  /** For each strategy, the share of traffic (in percent) on the new version after each stage. */
  readonly stages: Readonly<Record<Strategy, readonly number[]>>;
}

const MOST_ROLLING_STAGES = 4;
const NEWEST = ['latest', 'main', 'head', 'dev'];

export function planFor({ replicas = 3, ...args }: DeployArguments): Plan {
  if (NEWEST.includes(args.version.toLowerCase())) {
    throw new ToolError(
      `"${args.version}" names whatever is newest, so nobody could tell what was deployed. Send a fixed version, e.g. 2.4.0.`,
    );
  }
  const stages = { rolling: rollingStages(replicas), canary: [5, 25, 100], 'all-at-once': [100] };
  return { ...args, replicas, stages };
}

/** Replica by replica, or in four equal stages when there are many. */
function rollingStages(replicas: number): number[] {
  const count = Math.min(replicas, MOST_ROLLING_STAGES);
  return Array.from({ length: count }, (_, stage) => Math.round((100 * (stage + 1)) / count));
}

export function stepTitles({ service, region, version, replicas, stages }: Plan, strategy: Strategy): string[] {
  const copies = `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`;
  return [
    `validate the manifest of ${service} ${version}`,
    'compute the content digest',
    `provision ${copies} in ${region}`,
    ...stages[strategy].map((percent) => `shift ${percent}% of the traffic to ${version}`),
    `smoke-check ${copies}`,
  ];
}
