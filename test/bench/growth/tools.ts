import { defineTool, elicitForm } from '../../../functions/tool/index.ts';

const n = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;

/** A result of so many bytes. */
export const returns = defineTool({ description: 'd', inputSchema: n }, ({ n: bytes }) => 'x'.repeat(bytes));

/** So many questions at once. */
export const asks = defineTool({ description: 'd', inputSchema: n }, async ({ n: count }, task) => {
  const all = Array.from({ length: count }, (_, i) => [`q${i}`, elicitForm('OK?', { ok: { type: 'boolean' } })]);
  await task.requireInput(Object.fromEntries(all));
  return 'answered';
});
