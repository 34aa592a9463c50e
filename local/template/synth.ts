import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type JsonObject, objectOf } from '../json.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The default folder for the assembly of an app; each app has its own. */
export function assemblyDirOf(appFile: string): string {
  const hash = createHash('sha256').update(resolve(appFile)).digest('hex').slice(0, 8);
  return join(ROOT, `cdk.out.local-${hash}`);
}

/** Does what `cdk synth` does, without the CLI: runs the app, which writes its assembly to `outDir`. */
export async function synthApp(appFile: string, outDir: string, signal?: AbortSignal): Promise<void> {
  if (!existsSync(appFile)) throw new Error(`there is no app ${appFile}`);
  const app = spawn(process.execPath, [resolve(appFile)], {
    cwd: ROOT,
    env: { ...process.env, CDK_OUTDIR: resolve(outDir), CDK_CONTEXT_JSON: JSON.stringify(context()) },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  const exit = new Promise<number | string | null>((done, fail) => {
    app.once('error', fail);
    app.once('close', (code, killedBy) => done(code ?? killedBy));
  });
  const [errors, code] = await Promise.all([text(app.stderr), exit]);
  if (code !== 0) throw new Error(`${errors.trimEnd()}\n${appFile} failed (${code})`);
}

/** What the CLI passes to the app: the context of its configuration, and its own defaults. */
function context(): JsonObject {
  return {
    // Puts the path of each construct into the template, by which errors name a resource.
    'aws:cdk:enable-path-metadata': true,
    ...objectOf(readJson('cdk.json').context),
    ...readJson('cdk.context.json'),
  };
}

function readJson(name: string): JsonObject {
  const path = join(ROOT, name);
  return existsSync(path) ? objectOf(JSON.parse(readFileSync(path, 'utf8'))) : {};
}
