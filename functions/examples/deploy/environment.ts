import { createHash } from 'node:crypto';
import type { Plan } from './plan.ts';

/** One running copy of the service in the simulated environment. */
export interface Replica {
  readonly id: string;
  readonly zone: string;
}

export interface Health {
  readonly requests: number;
  readonly onNew: number;
  readonly errors: number;
  readonly p95Ms: number;
}

const ZONES = ['a', 'b', 'c'];
const REQUESTS = 20_000;
const PROBES = 1_000;
/** The old and the new version fail this many requests in ten thousand. */
const ERRORS_PER_10_000 = 4;

/** An even number from 0 up to `bound`, decided by the text: the environment has no chance in it. */
function drawn(text: string, bound: number): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) % bound;
}

/** Puts each replica into the zone with the fewest so far; the text decides between equals. */
export function placeReplicas(plan: Plan, digest: string): Replica[] {
  const placed: Replica[] = [];
  for (let index = 0; index < plan.replicas; index += 1) {
    const id = `${plan.service}-${drawn(`${digest}/${index}`, 0xfffff).toString(16).padStart(5, '0')}-${index}`;
    const load = (zone: string): number => placed.filter((replica) => replica.zone === plan.region + zone).length;
    const [zone = 'a'] = [...ZONES].sort((a, b) => load(a) - load(b) || drawn(id + a, 1_000) - drawn(id + b, 1_000));
    placed.push({ id, zone: plan.region + zone });
  }
  return placed;
}

/** Routes a fixed set of requests by the hash of their id and measures what comes back. */
export function measureTraffic(plan: Plan, percent: number): Health {
  const latencies: number[] = [];
  let onNew = 0;
  let errors = 0;
  for (let request = 0; request < REQUESTS; request += 1) {
    const id = `${plan.service}/${plan.region}/${request}`;
    const routed = drawn(id, 100) < percent;
    const version = routed ? plan.version : 'previous';
    const outcome = drawn(`${id}@${version}`, 10_000);
    if (routed) onNew += 1;
    if (outcome < ERRORS_PER_10_000) errors += 1;
    latencies.push(12 + (outcome % 40) + (outcome % 97 === 0 ? 60 : 0));
  }
  latencies.sort((a, b) => a - b);
  return { requests: REQUESTS, onNew, errors, p95Ms: latencies[Math.floor(REQUESTS * 0.95)] ?? 0 };
}

/** How many replicas answer at least 99 of 100 probes. */
export function smokeCheck(replicas: readonly Replica[]): number {
  const healthy = ({ id }: Replica): boolean => {
    const answers = Array.from({ length: PROBES }, (_, probe) => drawn(`${id}/health/${probe}`, 10_000));
    return answers.filter((answer) => answer >= ERRORS_PER_10_000).length >= PROBES * 0.99;
  };
  return replicas.filter(healthy).length;
}
