import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from './usage-error.ts';

/** What a running `mcp-task-server dev` says of itself: see local/dev/session-file.ts. */
export interface DevSession {
  readonly pid: number;
  /** Of all services of the embedded cloud. */
  readonly endpoint: string;
  readonly region: string;
  readonly stacks: readonly string[];
  /** Of the server. */
  readonly url: string;
}

/**
 * The `dev` that runs in this folder, or in one above it. Throws UsageError.
 *
 * @param pid its process, where several run
 */
export function findDevSession(folder: string, pid?: number): DevSession {
  const found = foldersFrom(folder)
    .flatMap((one) => sessionsIn(join(one, 'cdk.out', 'mcp-task-server-dev')))
    .filter((session) => pid === undefined || session.pid === pid);
  const [session, ...more] = found;
  if (session === undefined) {
    throw new UsageError(
      "No 'mcp-task-server dev' runs in this folder. Start it, or name a deployed stack: --stack NAME [--region R --profile P]",
    );
  }
  if (more.length === 0) return session;
  throw new UsageError(
    `${found.length} times 'mcp-task-server dev' run here (${found.map(({ url }) => url).join(', ')}): end all but one`,
  );
}

function foldersFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersFrom(above)];
}

function sessionsIn(folder: string): DevSession[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const file = join(folder, name, 'server.json');
    const session = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DevSession) : undefined;
    return session !== undefined && isAlive(session.pid) ? [session] : [];
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
