import { setTimeout as sleep } from 'node:timers/promises';
import type { Task } from 'mcp-task-server/tool';
import type { Deployment, Strategy } from './definition.ts';
import { type Health, measureTraffic, placeReplicas, type Replica, smokeCheck } from './environment.ts';
import { contentDigest, renderManifest } from './manifest.ts';
import { type Plan, stepTitles } from './plan.ts';

/** Stands for waiting on the remote system that would do a step; everything else a step does, it does itself. */
const REMOTE_MS = 1_050;

/** Carries the plan out, step by step; a run that takes it up again finds finished steps done. */
export async function release(plan: Plan, strategy: Strategy, task: Task) {
  const titles = stepTitles(plan, strategy);
  const steps: Deployment['steps'] = [];

  async function step<T>(work: () => T, told: (done: T) => string): Promise<T> {
    const [number, title = ''] = [steps.length + 1, titles[steps.length]];
    await task.progress(`Step ${number}/${titles.length}: ${title}`, { progress: steps.length, total: titles.length });
    const done = await task.step(title, async () => {
      await sleep(REMOTE_MS, undefined, { signal: task.signal });
      return work();
    });
    steps.push({ title, result: told(done) });
    return done;
  }

  await step(
    () => Buffer.byteLength(renderManifest(plan)),
    (bytes) => `valid, ${bytes} bytes, ${plan.replicas * 256} MiB of memory`,
  );
  const digest = await step(() => contentDigest(plan), String);
  const replicas = await step(() => placeReplicas(plan, digest), perZone);
  for (const percent of plan.stages[strategy]) {
    await step(
      () => measureTraffic(plan, percent),
      (health) => traffic(plan, health),
    );
  }
  await step(
    () => smokeCheck(replicas),
    (healthy) => `${healthy} of ${plan.replicas} healthy`,
  );
  return { digest, steps };
}

function perZone(replicas: readonly Replica[]): string {
  const zones = [...new Set(replicas.map(({ zone }) => zone))].sort();
  return zones.map((zone) => `${zone} ×${replicas.filter((replica) => replica.zone === zone).length}`).join(', ');
}

function traffic({ version }: Plan, { requests, onNew, errors, p95Ms }: Health): string {
  const share = ((100 * onNew) / requests).toFixed(1);
  const failed = ((100 * errors) / requests).toFixed(2);
  return `${share}% of ${requests} requests on ${version}, ${failed}% errors, p95 ${p95Ms} ms`;
}
