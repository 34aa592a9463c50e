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

/**
 * `mcp-task-server tasks` on an embedded cloud, as on a deployed stack: with the credentials of the environment.
 *
 * @param accessKey the logical id of a role, or anything else for an administrator
 */
export function verbsOn(cloud: () => Cloud, accessKey = 'administrator') {
  return async (...args: string[]): Promise<Printed> => {
    const [out, err]: [string[], string[]] = [[], []];
    Object.assign(process.env, {
      AWS_REGION: cloud().region,
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: 'test',
    });
    const code = await runTasks([...args, '--stack', cloud().stacks[0] ?? ''], {
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      env: { AWS_ENDPOINT_URL: cloud().endpoint },
      folder: '/',
    });
    return { code, out: out.join(''), err: err.join(''), json: () => JSON.parse(out.join('')) };
  };
}
