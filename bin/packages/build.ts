import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFiles } from '../../lib/bundles.ts';
import { PREBUILT, partsCode, SERVER_FUNCTIONS, type ServerFunction, serverCode } from '../../lib/server-code.ts';
import { addCommonJs } from './common-js.ts';
import { packageJson, templateJson } from './package-json.ts';
import { removeUnreached } from './reachable.ts';
import { copyTracked } from './tracked.ts';

/** `npm run build`: makes the npm packages below `dist`, each ready for `npm publish`. */
const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');

rmSync(DIST, { recursive: true, force: true });
server(join(DIST, 'mcp-task-server'));
local(join(DIST, 'mcp-task-server-local'));
create(join(DIST, 'create-mcp-task-server'));

function server(out: string): void {
  compile('tsconfig.server.json');
  const json = packageJson(ROOT, { commonJs: true });
  removeUnreached(out, json);
  copyTracked(ROOT, 'lib/workflow', join(out, 'lib/workflow'), (file) => !file.endsWith('.ts'));
  for (const name of Object.keys(SERVER_FUNCTIONS) as ServerFunction[]) {
    const { 'index.js': code = '' } = serverCode(name);
    writeFiles(join(out, PREBUILT), { [`${name}.js`]: code });
  }
  writeFiles(join(out, PREBUILT), partsCode());
  addCommonJs(out);
  for (const python of ['mcp_task.py', 'mcp_files.py', 'mcp_waits.py', 'mcp_names.py', 'mcp_journal.py']) {
    cpSync(join(ROOT, 'functions/examples/python', python), join(out, 'python', python));
  }
  page(join(out, 'bin/console/page'));
  finish(out, json, ['README.md', 'CHANGELOG.md', 'LICENSE']);
}

/** Copies the page of the console, and the one library that it loads. */
function page(out: string): void {
  const kept = (file: string) => !/\.(d\.ts|json)$/.test(file);
  copyTracked(ROOT, 'bin/console/page', out, kept);
  cpSync(join(ROOT, 'node_modules/lit-html/lit-html.js'), join(out, 'lit-html.js'));
  cpSync(join(ROOT, 'node_modules/lit-html/LICENSE'), join(out, 'lit-html.LICENSE'));
}

function local(out: string): void {
  compile('tsconfig.local.json');
  const python = 'lambda/runtime/bootstrap.py';
  cpSync(join(ROOT, 'local', python), join(out, python));
  finish(out, packageJson(join(ROOT, 'local')), ['local/README.md', 'LICENSE']);
}

function create(out: string): void {
  compile('tsconfig.create.json');
  copyTracked(ROOT, 'bin/create/template', join(out, 'template'));
  writeJson(join(out, 'template/package.json'), templateJson(ROOT));
  // `cdk init` sets the same flags, which say how new apps should behave.
  const context = readJson(join(ROOT, 'node_modules/aws-cdk-lib/recommended-feature-flags.json'));
  writeJson(join(out, 'template/cdk.json'), { ...readJson(join(ROOT, 'bin/create/template/cdk.json')), context });
  finish(out, packageJson(join(ROOT, 'bin/create')), ['LICENSE']);
}

function compile(config: string): void {
  execFileSync('tsc', ['-p', join(import.meta.dirname, config)], { stdio: 'inherit' });
}

function finish(out: string, json: object, files: readonly string[]): void {
  writeJson(join(out, 'package.json'), json);
  for (const file of files) cpSync(join(ROOT, file), join(out, file.replace(/^.*\//, '')));
}

function readJson(file: string): object {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file: string, json: object): void {
  writeFileSync(file, `${JSON.stringify(json, undefined, 2)}\n`);
}
