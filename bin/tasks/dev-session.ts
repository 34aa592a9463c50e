import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { clientConfig } from '../../functions/tasks/aws/client.ts';
import { parsed } from '../../functions/tasks/shape.ts';
import { UsageError } from './usage-error.ts';

/** The session file of a running `mcp-task-server dev`: see local/dev/session.ts. */
export interface DevSession {
  readonly pid: number;
  /** The endpoint of all services of the embedded cloud. */
  readonly endpoint: string;
  readonly region: string;
  readonly stacks: readonly string[];
  readonly url: string;
}

/**
 * Finds the `dev` that runs in this folder or above it, up to the first folder with a package.json or a cdk.json. Its
 * endpoint gets answers and reasons, and shows tasks, so a file counts only if no other user can have written it. Rejects
 * with a UsageError.
 *
 * @param pid its process id, if several run
 */
export async function findDevSession(folder: string, pid?: number): Promise<DevSession> {
  const named = foldersFrom(folder)
    .flatMap((one) => sessionsIn(join(one, 'cdk.out', 'mcp-task-server-dev')))
    .filter((session) => pid === undefined || session.pid === pid);
  const running = await Promise.all(named.map(async (one) => (pid !== undefined || (await answers(one)) ? [one] : [])));
  const found = running.flat();
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
  const isProject = existsSync(join(folder, 'package.json')) || existsSync(join(folder, 'cdk.json'));
  return isProject || above === folder ? [folder] : [folder, ...foldersFrom(above)];
}

function sessionsIn(folder: string): DevSession[] {
  return namesIn(folder).flatMap((name) => {
    const session = isOwn(join(folder, name), 'folder') ? readSession(join(folder, name, 'server.json')) : undefined;
    return session !== undefined && isOwnProcess(session.pid) ? [session] : [];
  });
}

/** The names in a folder; none if it is missing or belongs to another user. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether no other user can have written it. Windows has no mode bits. */
function isOwn(path: string, kind: 'file' | 'folder'): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !(kind === 'file' ? found.isFile() : found.isDirectory())) return false;
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0);
}

/** Reads a session file; undefined if no `dev` has written it. */
function readSession(file: string): DevSession | undefined {
  if (!isOwn(file, 'file')) return undefined;
  const { pid, endpoint, region, stacks, url } = Object(parsed(readFileSync(file, 'utf8')));
  if (typeof pid !== 'number' || typeof endpoint !== 'string' || !isLoopback(endpoint)) return undefined;
  if (typeof region !== 'string' || !Array.isArray(stacks)) return undefined;
  return { pid, endpoint, region, stacks: stacks.map(String), url: typeof url === 'string' ? url : endpoint };
}

function isLoopback(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  return protocol === 'http:' && hostname === '127.0.0.1';
}

/** Whether the user owns the process: a signal to another user's process is refused. */
function isOwnProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The access to a `dev`: its embedded cloud gives these credentials the rights of its user. */
export const accessTo = ({ endpoint, region }: Pick<DevSession, 'endpoint' | 'region'>) => ({
  region,
  endpoint,
  credentials: async () => ({ accessKeyId: 'operator', secretAccessKey: 'local' }),
});

/** Whether its embedded cloud answers. A `dev` that was killed leaves its file, and its pid may be another process's. */
function answers(session: DevSession): Promise<boolean> {
  const sts = new STSClient(clientConfig({ requestTimeout: 10_000, attempts: 1, ...accessTo(session) }));
  return sts.send(new GetCallerIdentityCommand()).then(
    () => true,
    () => false,
  );
}
