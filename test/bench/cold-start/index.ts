import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startAws } from '../endpoint/aws.ts';
import { environment } from '../endpoint/endpoint.ts';
import { bundled, endpoint, handler, well } from './arms.ts';
import { type Round, type Row, rowsOf, type Sample } from './rows.ts';

export type { Row } from './rows.ts';

/**
 * The flags with which Lambda has started Node for a function of 512 MB. They change what V8 and Node load from caches.
 */
const FLAGS = ['--expose-gc', '--max-http-header-size=81920', '--max-semi-space-size=25', '--max-old-space-size=461'];

const PAIRS = 40;
const NOW = 'endpoint';
const BARE = 'empty handler, same AWS clients';

/** The file of each arm, by its name, and the tool that polls its tasks. */
const ARMS: Readonly<Record<string, { readonly make: (folder: string) => void; readonly poll?: string }>> = {
  [NOW]: { make: endpoint },
  [BARE]: { make: handler('bare') },
  'empty handler, bundled well': { make: well },
  'official SDK, same AWS clients': { make: handler('sdk'), poll: 'poll' },
};

/**
 * Cold starts on this machine: each sample is a fresh process, each round takes one sample of each arm in random order, and
 * only ratios within a round count. AWS is a double on 127.0.0.1. Each arm is compared with the empty handler, and the
 * endpoint with all others.
 */
export async function coldStart(): Promise<Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'mcp-cold-start-'));
  const aws = await startAws();
  try {
    const sample = join(root, 'sample.cjs');
    bundled('sample.ts', sample);
    const arms = Object.entries(ARMS).map(([name, { make, poll = 'tasks/get' }], i) => {
      const folder = join(root, `arm-${i}`);
      mkdirSync(folder);
      make(folder);
      return { name, args: [...FLAGS, sample, join(folder, 'index.js'), poll] };
    });
    const rounds: Round[] = [];
    // The first round fills the caches of the file system, and does not count.
    for (let round = 0; round <= PAIRS; round++) {
      const samples: Record<string, Sample> = {};
      for (const { name, args } of shuffled(arms)) samples[name] = await sampleOf(args, aws.url);
      if (round > 0) rounds.push(samples);
    }
    const names = arms.map(({ name }) => name);
    const others = names.filter((name) => name !== NOW && name !== BARE);
    return rowsOf(rounds, [
      [NOW, BARE],
      ...others.map((name) => [name, BARE] as const),
      ...others.map((name) => [NOW, name] as const),
    ]);
  } finally {
    aws.close();
    rmSync(root, { recursive: true });
  }
}

async function sampleOf(args: readonly string[], url: string): Promise<Sample> {
  const env = { PATH: process.env.PATH, ...environment, AWS_ENDPOINT_URL: url };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 30_000 });
  return JSON.parse(stdout);
}

function shuffled<T>(items: readonly T[]): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(Math.random() * rest.length), 1));
}
