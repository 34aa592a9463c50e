import { afterAll, vi } from 'vitest';
import { runTasks } from '../../../bin/tasks/index.ts';
import type { Cloud } from '../../../local/cloud.ts';

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What was printed, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: () => any;
}

/** Makes an embedded cloud the one that AWS clients find by the environment. */
export function useCredentials({ region, endpoint }: Cloud, accessKey: string): void {
  vi.stubEnv('AWS_REGION', region);
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKey);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
}

/**
 * `mcp-task-server tasks` on an embedded cloud, as on a deployed stack: with the credentials of the environment.
 *
 * @param accessKey the logical id of a role, or anything else for an administrator
 */
export function verbsOn(cloud: () => Cloud, accessKey = 'administrator') {
  afterAll(() => void vi.unstubAllEnvs());
  return async (...args: string[]): Promise<Printed> => {
    const [out, err]: [string[], string[]] = [[], []];
    useCredentials(cloud(), accessKey);
    const code = await runTasks([...args, '--stack', cloud().stacks[0] ?? ''], {
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      folder: '/',
    });
    return { code, out: out.join(''), err: err.join(''), json: () => JSON.parse(out.join('')) };
  };
}
