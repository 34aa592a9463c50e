import { createHash } from 'node:crypto';
import type { Plan } from './plan.ts';

const MEBIBYTE = 1_048_576;
const BUNDLE_MEBIBYTES = 24;

/** The text that says what runs; the same plan always gives the same text. */
export function renderManifest({ service, region, version, replicas }: Plan): string {
  return [
    `service: ${service}`,
    `region: ${region}`,
    `image: registry.example/${service}:${version}`,
    `replicas: ${replicas}`,
    'resources: { cpu: 0.25, memory: 256Mi }',
    'healthCheck: { path: /health, failures: 3 }',
    '',
  ].join('\n');
}

/** Of manifest and bundle. There is no registry: the bytes of the bundle are derived from service and version. */
export function contentDigest(plan: Plan): string {
  const hash = createHash('sha256').update(renderManifest(plan));
  for (let block = 0; block < BUNDLE_MEBIBYTES; block += 1) {
    const seed = createHash('sha256').update(`${plan.service}@${plan.version}/${block}`).digest();
    hash.update(Buffer.alloc(MEBIBYTE, seed));
  }
  return `sha256:${hash.digest('hex')}`;
}
