import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type JsonObject, objectOf, stringOf } from '../json.ts';
import { endGroup } from '../process-group.ts';

/** The CDK app of a folder, as its `cdk.json` describes it. */
export interface Project {
  readonly folder: string;
  readonly app: string;
  readonly context: JsonObject;
}

/** The feature flag that lets CDK's rules for CloudFormation fail a synth. */
const VALIDATES = '@aws-cdk/core:validateAgainstDefaultRules';

const ROOT = join(import.meta.dirname, '../..');

export function readProject(folder: string): Project {
  if (!existsSync(join(folder, 'cdk.json'))) {
    throw new Error(`${folder} has no cdk.json: run this in the folder of a CDK app`);
  }
  const { app, context } = readJson(join(folder, 'cdk.json'));
  if (stringOf(app) === undefined) throw new Error("cdk.json has no 'app': the command that runs the CDK app");
  return { folder, app: String(app), context: { ...objectOf(context), ...readJson(join(folder, 'cdk.context.json')) } };
}

function readJson(path: string): JsonObject {
  if (!existsSync(path)) return {};
  try {
    return objectOf(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${(error as Error).message}`);
  }
}

/** The default folder for the assembly of an app of this repository; each app has its own. */
export function assemblyDirOf(appFile: string): string {
  const hash = createHash('sha256').update(resolve(appFile)).digest('hex').slice(0, 8);
  return join(ROOT, `cdk.out.local-${hash}`);
}

export async function synthApp(appFile: string, outDir: string, signal?: AbortSignal): Promise<void> {
  if (!existsSync(appFile)) throw new Error(`there is no app ${appFile}`);
  const app = `"${process.execPath}" "${resolve(appFile)}"`;
  await synthesize({ ...readProject(ROOT), app }, resolve(outDir), signal).catch((error: Error) => {
    throw new Error(`${error.message}\n${appFile} failed (${error.cause ?? error.name})`, { cause: error });
  });
}

/** Runs the app as `cdk synth` does. It writes its assembly to `outDir`. If it fails, rejects with the text that it printed. */
export async function synthesize(
  { folder, app, context }: Project,
  outDir: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const child = spawn(app, {
    cwd: folder,
    shell: true,
    env: {
      // The rules of CDK for CloudFormation take most of the time of a synth. `cdk synth` and `cdk deploy` check them.
      ...(context[VALIDATES] !== true && { CDK_VALIDATION: 'false' }),
      ...process.env,
      PATH: [join(folder, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      CDK_OUTDIR: outDir,
      CDK_CONTEXT_JSON: JSON.stringify({
        // Puts the path of each construct into the template: errors name a resource by it.
        'aws:cdk:enable-path-metadata': true,
        ...context,
      }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its processes become a group, so that more than the shell can be ended.
    detached: process.platform !== 'win32',
  });
  const end = () => endGroup(child);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  const exit = new Promise<number | string | null>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, killedBy) => done(code ?? killedBy));
  });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]).finally(() =>
    signal.removeEventListener('abort', end),
  );
  if (code !== 0)
    throw new Error(withoutNoise(`${output}${errors}`) || `'${app}' failed with ${code}`, { cause: code });
}

/** Lines of Node itself: the position above an error, and calls in a stack. They hide the author's own lines. */
const INTERNALS = /^node:internal\/.*\n.*\n *\^\n+|^ +at .*\bnode:internal\/.*\n/gm;
/** Node prints the line that threw, with a mark below. The line of a minified library is its whole file. */
const MINIFIED_LINE = /^.*:\d+\n.{301,}\n[ ^]*\n+/gm;

/** The text that an app printed, without lines that do not help its author. */
const withoutNoise = (printed: string): string => printed.replace(INTERNALS, '').replace(MINIFIED_LINE, '').trim();
