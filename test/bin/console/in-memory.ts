import { onTestFinished } from 'vitest';
import { startConsole } from '../../../bin/console/server.ts';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { acting, send } from './console.ts';

/** A console of a server in memory. It ends with the test. */
export async function consoleOf(connect: () => Promise<OperatorContext>, local = true, options = '') {
  const page = await startConsole({ connect, local, options });
  onTestFinished(() => page.stop());
  const { port, pathname } = new URL(page.url);
  const [, token = ''] = pathname.split('/');
  const here = { ...{ url: page.url, token, port: Number(port), acts: [] }, stop: () => page.stop() };
  return {
    ...here,
    get: (path: string, headers: Record<string, string> = {}) => send(here.port, `/${token}/${path}`, { headers }),
    post: (route: string, body: unknown, headers: Record<string, string | undefined> = {}) => {
      const all = Object.entries({ ...acting(here), ...headers });
      const given = all.filter((entry): entry is [string, string] => entry[1] !== undefined);
      return send(here.port, `/${token}/api/${route}`, { method: 'POST', body, headers: Object.fromEntries(given) });
    },
  };
}
