import { expect, test } from 'vitest';
import { traceparentOf } from '../../../../functions/mcp/protocol/trace-context.ts';

const META = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const HEADER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const callOf = (meta: unknown, header?: string) => ({
  params: { ...(meta !== undefined && { _meta: meta }) },
  request: { method: 'POST', headers: header === undefined ? {} : { traceparent: header }, body: '' },
});

test.each<[string, unknown, string | undefined, string | undefined]>([
  ['the one in _meta', { traceparent: META }, undefined, META],
  ['the header', undefined, HEADER, HEADER],
  ['_meta before the header, which may be that of a proxy', { traceparent: META }, HEADER, META],
  ['the header if the one in _meta is not valid', { traceparent: 'x' }, HEADER, HEADER],
  ['none', {}, undefined, undefined],
  ['none of a _meta that is no object', 'text', undefined, undefined],
  ['none that is no text', { traceparent: [META] }, undefined, undefined],
  ['no trace id of zeros', { traceparent: META.replace(/-\w{32}-/, `-${'0'.repeat(32)}-`) }, undefined, undefined],
  ['no parent id of zeros', { traceparent: META.replace(/-\w{16}-/, `-${'0'.repeat(16)}-`) }, undefined, undefined],
  ['no version ff', { traceparent: META.replace('00', 'ff') }, undefined, undefined],
  ['nothing behind it', { traceparent: `${META}-x` }, undefined, undefined],
  ['no capitals', { traceparent: META.toUpperCase() }, undefined, undefined],
])('a call belongs to the trace: %s', (_title, meta, header, expected) => {
  expect(traceparentOf(callOf(meta, header) as never)).toBe(expected);
});
