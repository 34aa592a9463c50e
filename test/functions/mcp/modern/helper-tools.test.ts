import { describe, expect, test } from 'vitest';
import { fakeServer, manifest } from '../support/fake-server.ts';
import { legacyCall, modernCall } from '../support/posted.ts';

const HELPERS = ['get_task_result', 'cancel_task'];
const taskId = '0'.repeat(36);

function clients(offered: boolean) {
  const fake = fakeServer({ manifest: { ...manifest, helperTools: offered } });
  return {
    ...fake,
    modern: (method: string, params: Record<string, unknown> = {}) => modernCall(fake.server, method, params),
    legacy: (method: string, params: object = {}) => legacyCall(fake.server, method, params),
  };
}

const named = ({ name }: { name: string }) => HELPERS.includes(name);

describe('helper tools', () => {
  test('can be switched off: neither listed nor known, in no era (A-13)', async () => {
    for (const offered of [true, false]) {
      const { modern, legacy } = clients(offered);
      for (const request of [modern, legacy]) {
        expect((await request('tools/list')).result.tools.filter(named)).toHaveLength(offered ? HELPERS.length : 0);
        if (offered) continue;
        for (const name of HELPERS) {
          const { error } = await request('tools/call', { name, arguments: { taskId } });
          expect(error).toEqual({ code: -32602, message: `Unknown tool: ${name}` });
        }
      }
    }
  });
});
