/** `npm start`: the app on this machine, in one process, without an AWS account. */
import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import type { Cloud } from '../local/cloud.ts';
import {
  endAfterUncaught,
  explain,
  leftAloneLine,
  messageOf,
  oneLine,
  portOf,
  refusedToolLine,
} from '../local/command.ts';
import { checkPort } from '../local/loopback.ts';
import { RECEIVERS_HERE } from '../local/marks.ts';
import { assemblyDirOf, synthApp } from '../local/template/synth.ts';

// The cloud is compiled once per version of Node, and loads faster from then on.
enableCompileCache();
const { startCloud } = await import('../local/cloud.ts');

const USAGE = `usage: npm start -- [options]
  --port N        where the server listens (default 3000, 0 for a free one)
  --app FILE      the CDK app to run (default bin/app.ts)
  --data DIR      where tables, secrets and executions are kept (default: in memory)
  --assembly DIR  run what cdk synth wrote there, instead of an app
  --concurrency N how many executions of functions the account may have at once (default 1000, a new account has 10)
  --single        gives each request a worker to itself, as AWS does (default: those that wait share workers)
`;

function readFlags() {
  try {
    const { port, app, data, assembly, concurrency, single } = parseArgs({
      options: {
        port: { type: 'string', default: '3000' },
        app: { type: 'string', default: 'bin/app.ts' },
        data: { type: 'string' },
        assembly: { type: 'string' },
        concurrency: { type: 'string', default: '1000' },
        single: { type: 'boolean', default: false },
      },
    }).values;
    if (!/^[1-9]\d{0,5}$/.test(concurrency)) throw new Error(`--concurrency ${concurrency}: a whole number above 0`);
    return { port: portOf(port), app, data, assembly, concurrency: Number(concurrency), single };
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${USAGE}`);
    return process.exit(2);
  }
}

async function run(
  { port, app, data, assembly, concurrency, single }: ReturnType<typeof readFlags>,
  signal: AbortSignal,
): Promise<Cloud> {
  // A used port fails now, rather than after some seconds of synthesis.
  await checkPort(port);
  const dir = assembly ?? assemblyDirOf(app);
  if (assembly === undefined) {
    process.stderr.write(`synthesizing ${app} …\n`);
    await synthApp(app, dir, signal);
  }
  return startCloud({
    assembly: dir,
    lenient: true,
    port,
    concurrency,
    sharedWorkers: !single,
    variables: RECEIVERS_HERE,
    ...(data === undefined ? {} : { dataDir: data }),
    onLog(source, line) {
      // CloudWatch would make metrics of this line, which comes every minute.
      if (!line.startsWith('{"_aws":')) process.stderr.write(`${source}: ${oneLine(line)}\n`);
    },
  });
}

function introduction(url: string, leftAlone: Cloud['leftAlone']): string {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'curl', version: '1' } },
  };
  return `ready ${url}
${leftAloneLine(leftAlone)}
curl         curl ${url} -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d '${JSON.stringify(initialize)}'
Claude Code  claude mcp add --transport http tasks ${url}
VS Code      .vscode/mcp.json: {"servers":{"tasks":{"type":"http","url":"${url}"}}}
`;
}

const flags = readFlags();
endAfterUncaught(flags.data);
const interrupted = new AbortController();
let cloud: Cloud | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    interrupted.abort();
    await cloud?.stop();
    process.exit(0);
  });
}

try {
  cloud = await run(flags, interrupted.signal);
  for (const [tool, why] of cloud.refusedTools()) process.stderr.write(`✗ ${refusedToolLine(tool, why)}\n`);
  process.stdout.write(introduction(`${cloud.url}/mcp`, cloud.leftAlone));
} catch (error) {
  if (!interrupted.signal.aborted) {
    process.stderr.write(`${explain(error, flags.port)}\n`);
    process.exit(1);
  }
}
