import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

interface Finding {
  readonly ruleName: string;
  readonly violatingResources: readonly { readonly constructPath: string }[];
}

/** The findings of cdk-nag's AwsSolutions and Serverless rules in an app, before any acknowledgement. */
async function findings(app: string): Promise<string[]> {
  const env = { ...process.env, CDK_OUTDIR: join(tmpdir(), 'mcp-nag') };
  const args = ['--import', './test/stack/nag-preload.ts', app];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 1e7 });
  const violations: readonly Finding[] = JSON.parse(stdout);
  return violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
  );
}

/** State machines of authors, who decide whether they log and trace. */
const AUTHORS =
  /^(AwsSolutions-SF[12]|Serverless-StepFunctionStateMachineXray) (McpTaskServer\/inspect-regions|Permissions\/Machine)\/Resource$/;

describe('cdk-nag (AwsSolutions, Serverless) finds only what lib/nag.ts explains', () => {
  test.each(['bin/app.ts', 'test/proofs/permissions/app.ts', 'test/support/apps/options-app.ts'])(
    'in %s',
    async (app) => {
      expect((await findings(app)).filter((finding) => !AUTHORS.test(finding))).toEqual([]);
    },
  );

  test("and does check: an author's state machine without logs is found", async () => {
    expect((await findings('test/proofs/permissions/app.ts')).filter((finding) => AUTHORS.test(finding))).toHaveLength(
      3,
    );
  });
});
