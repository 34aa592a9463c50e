import { expect, test } from 'vitest';
import { clients } from '../support/fake-clients.ts';

test('2025-06-18 has no tasks, so no tool shows that it can run as one (B-21, C-04)', async () => {
  const { legacy } = clients();
  const toolsOf = async (version: string) => {
    const { result } = await legacy('tools/list', {}, version);
    return (result as unknown as { tools: object[] }).tools;
  };
  expect((await toolsOf('2025-06-18')).filter((tool) => 'execution' in tool)).toEqual([]);
  expect((await toolsOf('2025-11-25')).filter((tool) => 'execution' in tool)).toHaveLength(2);
  const names = (tools: object[]) => tools.map((tool) => (tool as { name: string }).name);
  expect(names(await toolsOf('2025-06-18'))).toEqual(names(await toolsOf('2025-11-25')));
});

test('a cursor is an error that says so: all tools are on one page (A-20)', async () => {
  const { error } = await clients().legacy('tools/list', { cursor: 'x' });
  expect(error).toEqual({ code: -32602, message: 'cursor is not one of this server' });
});
