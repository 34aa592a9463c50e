import { describe, expect, test } from 'vitest';
import { classify } from '../../../../functions/mcp/protocol/classify.ts';
import type { RpcRequest } from '../../../../functions/mcp/protocol/jsonrpc.ts';
import { LEGACY, MODERN, meta } from '../../../../functions/mcp/protocol/versions.ts';

const request = (method: string, version?: unknown) => {
  const params = version === undefined ? {} : { _meta: { [meta.protocolVersion]: version } };
  return { kind: 'request', id: 1, method, params } as RpcRequest;
};

const LEGACY_ONE = { era: 'legacy', version: LEGACY };

describe('the revision of a request', () => {
  test.each<[string, Parameters<typeof classify>, object]>([
    ['the version in the body', [request('ping', MODERN), MODERN, undefined], { era: 'modern', version: MODERN }],
    ['a header of another revision', [request('ping', LEGACY), MODERN, undefined], { era: 'modern', version: LEGACY }],
    ['the version in the body, an older one', [request('ping', LEGACY), undefined, undefined], LEGACY_ONE],
    ['the same version in both', [request('ping', LEGACY), LEGACY, undefined], LEGACY_ONE],
    ['an older header alone', [request('ping'), LEGACY, undefined], LEGACY_ONE],
    [
      'initialize with the date of an unknown revision',
      [request('initialize'), '2024-01-01', undefined],
      { era: 'legacy', version: '2024-01-01' },
    ],
    ['initialize without a header', [request('initialize'), undefined, undefined], { era: 'legacy', version: '' }],
    ['the session', [request('ping'), undefined, LEGACY], { era: 'legacy', version: LEGACY }],
  ])('is decided by %s (ladder rows 9 to 17)', (_name, [body, header, session], classified) => {
    expect(classify(body, header, session)).toEqual(classified);
  });

  test.each<[string, Parameters<typeof classify>, object]>([
    [
      'a version that is no text',
      [request('ping', 5), undefined, undefined],
      { code: -32602, httpStatus: 400, message: `_meta['${meta.protocolVersion}'] must be a string` },
    ],
    [
      'a modern header without an envelope (D-01)',
      [request('ping'), MODERN, undefined],
      { code: -32602, message: `_meta must hold '${meta.protocolVersion}' and '${meta.clientCapabilities}'` },
    ],
    [
      'no version at all',
      [request('ping'), undefined, undefined],
      { code: -32020, message: expect.stringContaining('MCP-Protocol-Version is missing') },
    ],
    ['another method with the same date', [request('ping'), '2024-01-01', undefined], { code: -32022 }],
    ['initialize with more than a date', [request('initialize'), '2024-01-01x', undefined], { code: -32022 }],
    ['initialize with a date at the end', [request('initialize'), '02024-01-01', undefined], { code: -32022 }],
  ])('is refused: %s', (_name, [body, header, session], error) => {
    expect(() => classify(body, header, session)).toThrow(expect.objectContaining(error));
  });
});
