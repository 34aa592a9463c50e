import { execFile } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { ToolFunction } from '../../../lib/index.ts';
import { digits } from '../report/page.ts';
import type { Arm, Row } from '../report/row.ts';
import { paired } from '../report/statistics.ts';
import { bundled } from './arms.ts';
import { FLAGS } from './index.ts';
import { LAST_RELEASE, runInRelease } from './release.ts';
import type { Times } from './rows.ts';

const PAIRS = 40;
const TOOL = 'functions/examples/greet.ts';

/** What a tool pays for `defineTool`: the smallest one, as CDK bundles it, beside that of the last release. */
export const toolLoad: Arm = {
  title: 'Load of the smallest tool',
  about:
    'Each sample is a new process with the flags of Node that Lambda sets: it loads the bundle of `greet`. In brackets the ' +
    'processor time of the main thread, and its ratio.',
  async run() {
    const root = mkdtempSync(join(tmpdir(), 'mcp-tool-load-'));
    try {
      const sample = join(root, 'sample.cjs');
      bundled('tool-sample.ts', sample);
      const [now, before] = [join(root, 'now'), join(root, 'before')];
      for (const folder of [now, before]) mkdirSync(folder);
      new ToolFunction(new Stack(new App({ outdir: now }), 'S'), 'Tool', { entry: TOOL });
      try {
        runInRelease(LAST_RELEASE, before, synthIn(before));
      } catch (error) {
        return { skipped: `${LAST_RELEASE}: ${(error as Error).message.split('\n')[0]}` };
      }
      return await compared(sample, now, before);
    } finally {
      rmSync(root, { recursive: true });
    }
  },
};

const synthIn = (outdir: string): string => `
  import { App, Stack } from 'aws-cdk-lib';
  const { ToolFunction } = await import('./lib/index.ts');
  const stack = new Stack(new App({ outdir: ${JSON.stringify(outdir)} }), 'S');
  new ToolFunction(stack, 'Tool', { entry: ${JSON.stringify(TOOL)} });`;

async function compared(sample: string, now: string, before: string): Promise<Row[]> {
  const files = [now, before].map((folder) => {
    const [file] = globSync('asset.*/index.js', { cwd: folder });
    const index = join(folder, 'index.js');
    copyFileSync(join(folder, file ?? 'no bundle'), index);
    return index;
  });
  const taken: Times[][] = [[], []];
  // The first round fills the caches of the file system, and does not count.
  for (let round = 0; round <= PAIRS; round++) {
    for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const args = [...FLAGS, sample, files[i] ?? ''];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH } });
      if (round > 0) taken[i]?.push(JSON.parse(stdout));
    }
  }
  const [wall, cpu] = (['wall', 'cpu'] as const).map((clock) => taken.map((times) => times.map((one) => one[clock])));
  const sizes = files.map((file) => Math.round(statSync(file).size / 1_000));
  const ratio = paired(wall?.[0] ?? [], wall?.[1] ?? []);
  const ofCpu = paired(cpu?.[0] ?? [], cpu?.[1] ?? []);
  const middle = (times: readonly number[] = []) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  return [
    {
      what: `greet: load (${sizes[0]} KB; ${sizes[1]} KB before)`,
      measured: `${digits(middle(wall?.[0]))} ms (${digits(middle(cpu?.[0]))} ms; ${digits(ofCpu.median)} ×)`,
      ratio: { ...ratio, to: `greet of ${LAST_RELEASE}` },
    },
  ];
}
