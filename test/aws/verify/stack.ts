import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteObjectsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';

const NAME = 'McpTaskServerVerify';

export interface Outputs {
  readonly Endpoint: string;
  readonly NapMachine: string;
  readonly AuthorMachine: string;
  readonly Results: string;
}

/**
 * Deploys ./app.ts into the account and region of the environment, which `cdk bootstrap` has prepared, lends it to `use`,
 * and removes it, also when something goes wrong. What then remains has the name of the stack.
 */
export async function withStack(region: string, use: (outputs: Outputs) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-verify-'));
  const file = join(folder, 'outputs.json');
  let outputs: Outputs | undefined;
  try {
    await cdk(region, ['deploy', '--require-approval', 'never', '--outputs-file', file]);
    outputs = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Outputs>)[NAME];
    if (outputs === undefined) throw new Error(`${NAME} has no outputs`);
    await use(outputs);
  } finally {
    rmSync(folder, { recursive: true });
    // CloudFormation deletes no bucket that holds anything.
    if (outputs !== undefined) await empty(outputs.Results, region);
    await cdk(region, ['destroy', '--force']);
  }
}

async function cdk(region: string, args: string[]): Promise<void> {
  const command = ['node_modules/aws-cdk/bin/cdk', '--app', 'node test/aws/verify/app.ts', ...args, NAME];
  const env = { ...process.env, AWS_REGION: region, CDK_DISABLE_VERSION_CHECK: '1' };
  const [code] = await once(spawn(process.execPath, command, { env, stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`cdk ${args[0]} failed. Check the stack ${NAME} in ${region}`);
}

async function empty(Bucket: string, region: string): Promise<void> {
  const s3 = new S3Client({ region });
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  const Objects = Contents.map(({ Key }) => ({ Key }));
  if (Objects.length > 0) await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
}
