import { runTasks } from '../../../bin/tasks/index.ts';
import type { Cloud } from '../../../local/cloud.ts';

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The printed text as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape.
  readonly json: () => any;
}

const NAMES = ['AWS_REGION', 'AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;
let before: readonly (string | undefined)[] | undefined;

/** Lets AWS clients find an embedded cloud by the environment. */
export function setCredentials({ region, endpoint }: Cloud, accessKey: string): void {
  before ??= NAMES.map((name) => process.env[name]);
  const given = [region, endpoint, accessKey, 'test'];
  for (const [i, name] of NAMES.entries()) process.env[name] = given[i];
}

/** Restores the environment. */
export function resetCredentials(): void {
  if (before === undefined) return;
  for (const [i, name] of NAMES.entries()) {
    const value = before[i];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  before = undefined;
}

/** Commands that run. */
let running = 0;

/**
 * `mcp-task-server tasks` on an embedded cloud, as on a deployed stack: with the credentials of the environment.
 *
 * @param accessKey the logical id of a role, or anything else for an administrator
 */
export function verbsOn(cloud: () => Cloud, accessKey = 'administrator') {
  return async (...args: string[]): Promise<Printed> => {
    const [out, err]: [string[], string[]] = [[], []];
    setCredentials(cloud(), accessKey);
    running++;
    try {
      const code = await runTasks([...args, '--stack', cloud().stacks[0] ?? ''], {
        out: (text) => void out.push(text),
        err: (text) => void err.push(text),
        folder: '/',
      });
      return { code, out: out.join(''), err: err.join(''), json: () => JSON.parse(out.join('')) };
    } finally {
      if (--running === 0) resetCredentials();
    }
  };
}
