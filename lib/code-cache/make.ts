import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealed } from '../../functions/loader/cache-file.ts';
import { compiled } from '../../functions/loader/load.ts';
import type { ServerFunction } from '../server-code.ts';
import { startAws } from './aws.ts';
import { type Handler, streaming, warmUps } from './warm-up.ts';

/**
 * `node make.ts NAME BUNDLE OUT`: runs the bundle of a function through its warm-up, and writes the cache of all that was
 * compiled then. It runs in a separate process, since a cache holds for the Node that made it.
 */
const [name = '', bundle = '', out = ''] = process.argv.slice(2);
const warmUp = warmUps[name as ServerFunction];
if (warmUp === undefined) throw new Error(`There is no warm-up of '${name}'`);
const aws = await startAws();
const folder = mkdtempSync(join(tmpdir(), 'mcp-task-server-'));
try {
  for (const [part, content] of Object.entries(warmUp.parts)) writeFileSync(join(folder, part), content);
  const account = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' };
  Object.assign(process.env, { ...account, AWS_ENDPOINT_URL: aws.url, AWS_LAMBDA_FUNCTION_NAME: 'f' }, warmUp.env);
  Object.assign(globalThis, { awslambda: streaming });
  const source = readFileSync(bundle);
  const file = join(folder, 'bundle.js');
  const script = compiled(file, source);
  const module = { exports: {} as { handler?: Handler } };
  script.runInThisContext().call(module.exports, module.exports, createRequire(file), module, file, folder);
  await warmUp.run(module.exports.handler as Handler);
  writeFileSync(out, sealed(source, script.createCachedData()));
} finally {
  rmSync(folder, { recursive: true });
  aws.close();
}
