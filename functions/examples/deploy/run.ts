import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { measureTraffic, placeReplicas, type Replica, smokeCheck } from './environment.ts';
import { contentDigest, renderManifest } from './manifest.ts';
import type { Plan, Step } from './plan.ts';

export interface StepResult {
  readonly title: string;
  readonly result: string;
}

export interface Release {
  /** False when the run was called off before its last step. */
  readonly finished: boolean;
  readonly digest: string;
  readonly steps: readonly StepResult[];
}

/** Announces a step; false means the task is no longer ours and no further step may be taken. */
export type Announce = (title: string, number: number, total: number) => Promise<boolean>;

interface Progress {
  digest: string;
  replicas: Replica[];
}

const REMOTE_MS = 1_050;
/** Stands for waiting on the remote system that would do this step; everything else a step does, it does itself. */
const waitForRemote = (): Promise<unknown> => sleep(REMOTE_MS);

export async function runSteps(
  plan: Plan,
  steps: readonly Step[],
  announce: Announce,
  wait: () => Promise<unknown> = waitForRemote,
): Promise<Release> {
  const progress: Progress = { digest: '', replicas: [] };
  const done: StepResult[] = [];
  for (const [index, step] of steps.entries()) {
    if (!(await announce(step.title, index + 1, steps.length)))
      return { finished: false, digest: progress.digest, steps: done };
    await wait();
    done.push({ title: step.title, result: await runStep(plan, step, progress) });
  }
  return { finished: true, digest: progress.digest, steps: done };
}

async function runStep(plan: Plan, step: Step, progress: Progress): Promise<string> {
  switch (step.kind) {
    case 'validate':
      return `valid, ${Buffer.byteLength(renderManifest(plan))} bytes, ${plan.replicas * 256} MiB of memory`;
    case 'digest':
      progress.digest = await contentDigest(plan, breathe);
      return progress.digest;
    case 'provision':
      progress.replicas = placeReplicas(plan, progress.digest);
      return perZone(progress.replicas);
    case 'shift':
      return traffic(plan, step.percent);
    case 'smoke':
      return `${smokeCheck(progress.replicas)} of ${plan.replicas} healthy`;
  }
}

function perZone(replicas: readonly Replica[]): string {
  const zones = [...new Set(replicas.map(({ zone }) => zone))].sort();
  return zones.map((zone) => `${zone} ×${replicas.filter((replica) => replica.zone === zone).length}`).join(', ');
}

function traffic(plan: Plan, percent: number): string {
  const { requests, onNew, errors, p95Ms } = measureTraffic(plan, percent);
  const share = ((100 * onNew) / requests).toFixed(1);
  const failed = ((100 * errors) / requests).toFixed(2);
  return `${share}% of ${requests} requests on ${plan.version}, ${failed}% errors, p95 ${p95Ms} ms`;
}
