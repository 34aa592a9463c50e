import { describe, expect, test } from 'vitest';
import { measureTraffic, placeReplicas, smokeCheck } from '../../../../functions/examples/deploy/environment.ts';
import { contentDigest, renderManifest } from '../../../../functions/examples/deploy/manifest.ts';
import { planFor } from '../../../../functions/examples/deploy/plan.ts';

const plan = planFor({ service: 'checkout', region: 'us-west-2', version: '1.0.0', replicas: 8 });

describe('the simulated environment', () => {
  test('spreads replicas over the zones, never two more in one than in another', () => {
    const replicas = placeReplicas(plan, 'sha256:00');
    const zones = Object.groupBy(replicas, ({ zone }) => zone);
    expect(Object.keys(zones).sort()).toEqual(['us-west-2a', 'us-west-2b', 'us-west-2c']);
    expect(
      Object.values(zones)
        .map((zone) => zone?.length)
        .sort(),
    ).toEqual([2, 3, 3]);
    expect(new Set(replicas.map(({ id }) => id)).size).toBe(8);
    expect(placeReplicas(plan, 'sha256:00')).toEqual(replicas);
    expect(smokeCheck(replicas)).toBe(8);
  });

  test('routes the share it is asked for, and never takes a request back as the share grows', () => {
    const shares = [0, 5, 50, 100].map((percent) => measureTraffic(plan, percent));
    expect(shares.map(({ onNew }) => Math.round(onNew / 200))).toEqual([0, 5, 50, 100]);
    for (const { requests, errors, p95Ms } of shares) {
      expect(errors / requests).toBeLessThan(0.002);
      expect(p95Ms).toBeGreaterThan(12);
    }
  });

  test('the digest depends on the manifest and on nothing else', () => {
    const digest = contentDigest(plan);
    expect(contentDigest({ ...plan })).toBe(digest);
    expect(contentDigest({ ...plan, replicas: 9 })).not.toBe(digest);
    expect(renderManifest(plan)).toContain('image: registry.example/checkout:1.0.0\nreplicas: 8\n');
  });
});
