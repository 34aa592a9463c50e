import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { signer } from '../../../../functions/mcp/identity/signing.ts';
import { sealState } from '../../../../functions/mcp/stream/input-required.ts';
import type { ToolEvent } from '../../../../functions/tasks/tool-contract.ts';
import { FORMS } from '../../../support/clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { modernCall } from '../support/posted.ts';

const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const form = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema } };
const yes = { action: 'accept', content: { ok: true } };

/** Asks until it has been answered `rounds` times, and then says all it knows. */
function asking(rounds: number, question: object = form) {
  return ({ inputResponses, requestState }: ToolEvent) => {
    const round = Number(requestState ?? 0);
    const next = 'sure' in inputResponses ? round + 1 : round;
    if (next < rounds) return { inputRequests: { sure: question }, requestState: next };
    return { structuredContent: { inputResponses, requestState } };
  };
}

/** A client of a server whose direct tools do what `tool` says; its clock is `at`. */
function client(tool: (event: ToolEvent) => unknown = asking(1), at = { now: 1_700_000_000_000 }) {
  const events: ToolEvent[] = [];
  const { server, did } = fakeServer({
    now: () => at.now,
    invoke: async (_tool, text) => {
      const event = JSON.parse(text) as ToolEvent;
      events.push(event);
      return { text: JSON.stringify(tool(event)) };
    },
  });
  const call = (more: Record<string, unknown> = {}, capabilities: object = FORMS) =>
    modernCall(server, 'tools/call', { name: 'plain', ...more }, { capabilities });
  return { server, did, events, call };
}

describe('a question without a task', () => {
  test('is the answer, with what the tool wants to know again, sealed (D-20, D-21)', async () => {
    const { call, events, did } = client();
    const { result } = await call();
    expect(result).toEqual({
      resultType: 'input_required',
      inputRequests: { sure: form },
      requestState: expect.any(String),
      _meta: expect.anything(),
    });
    const done = await call({ requestState: result.requestState, inputResponses: { sure: yes } });
    expect(done.result).toMatchObject({ resultType: 'complete', structuredContent: { inputResponses: { sure: yes } } });
    expect(events.map(({ requestState, task }) => [requestState, task])).toEqual([
      [null, undefined],
      [0, undefined],
    ]);
    expect(did).toEqual([]);
  });

  test('of a tool that remembers nothing comes without state, and is answered without (D-21, D-24)', async () => {
    const { call } = client(({ inputResponses }) =>
      'sure' in inputResponses ? { structuredContent: inputResponses } : { inputRequests: { sure: form } },
    );
    expect((await call()).result).not.toHaveProperty('requestState');
    for (const round of [1, 2]) {
      const { result } = await call({ inputResponses: { sure: yes } });
      expect([round, result.structuredContent]).toEqual([round, { sure: yes }]);
    }
  });

  test.each<[string, object, object, object, string]>([
    ['a form, nothing declared', form, {}, { elicitation: {} }, 'elicitation'],
    ['a form, only URLs declared', form, { elicitation: { url: {} } }, { elicitation: {} }, 'elicitation'],
    ['a URL, only forms declared', url('https://a.example/'), FORMS, { elicitation: { url: {} } }, 'elicitation.url'],
    ['a model', sampling(), { ...FORMS, roots: {} }, { sampling: {} }, 'sampling'],
    ['the roots', { method: 'roots/list' }, FORMS, { roots: {} }, 'roots'],
  ])(
    'is not asked where the request did not declare it, and the error names it: %s (D-10, D-22)',
    async (_what, question, declared, missing, named) => {
      const { call } = client(asking(1, question));
      expect(await call({}, declared)).toMatchObject({
        status: 400,
        error: {
          code: -32021,
          message: expect.stringMatching(`^Tool \\w+ asks for input: declare the capability ${named}$`),
          data: { requiredCapabilities: missing },
        },
      });
    },
  );

  test('capabilities of the round before do not count for the next (D-02, D-22)', async () => {
    const { call } = client(asking(2));
    const { requestState } = (await call()).result;
    const next = await call({ requestState, inputResponses: { sure: yes } }, {});
    expect(next.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
  });

  test('has no elicitationId, also if the tool sends one (D-34)', async () => {
    const { call } = client(asking(1, { method: form.method, params: { ...form.params, elicitationId: 'x' } }));
    expect((await call()).result.inputRequests.sure).toEqual(form);
    const link = client(asking(1, url('https://a.example/', { elicitationId: 'x' })));
    const { result } = await link.call({}, { elicitation: { url: {} } });
    expect(result.inputRequests.sure).toEqual(url('https://a.example/'));
  });

  test.each<object>([
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: { ok: true, more: 1 } },
  ])('may be answered in any way, with more than was asked: %o (D-34)', async (answer) => {
    const { call, events } = client();
    const { requestState } = (await call()).result;
    await call({ requestState, inputResponses: { sure: answer } });
    expect(events[1]?.inputResponses).toEqual({ sure: answer });
  });

  test.each<object>([{}, { other: yes }, { constructor: yes, __proto__: yes }])(
    'is asked again when its answer is missing, with new state: %o (D-25)',
    async (inputResponses) => {
      const { call } = client();
      const first = (await call()).result;
      const again = (await call({ requestState: first.requestState, inputResponses })).result;
      expect(again).toMatchObject({ resultType: 'input_required', inputRequests: { sure: form } });
      expect(again.requestState).not.toBe(first.requestState);
      const answers = { sure: yes, extra: { ignored: true } };
      const done = await call({ requestState: again.requestState, inputResponses: answers });
      expect(done.result.resultType).toBe('complete');
    },
  );
});

describe('requestState is hostile (D-23)', () => {
  const refused = { code: -32602, message: 'requestState is not valid for this request' };

  test('tampered with anywhere, it is refused, and the tool never sees it (D-23)', async () => {
    const { call, events } = client();
    const state: string = (await call()).result.requestState;
    const at = (i: number) => state.slice(0, i) + (state[i] === 'A' ? 'B' : 'A') + state.slice(i + 1);
    const dot = state.indexOf('.');
    const [text = '', mac = ''] = state.split('.');
    const forged = Buffer.from(JSON.stringify({ tool: 9, expires: 9e15, digest: '' })).toString('base64url');
    const wrong = [at(0), at(10), at(dot - 1), at(dot + 1), at(state.length - 1), state.slice(0, -1), `${state}A`];
    wrong.push(text, `${text}.`, `.${mac}`, `${text}.${mac}.${mac}`, `${forged}.${mac}`, ` ${state}`, '', '.', 'x');
    for (const requestState of wrong) {
      expect((await call({ requestState, inputResponses: { sure: yes } })).error).toEqual(refused);
    }
    expect(events).toHaveLength(1);
  });

  test('does not open for another tool, nor for a token of another use (D-23)', async () => {
    const { call, server } = client();
    const { requestState } = (await call()).result;
    expect((await call({ name: 'marked', requestState })).error).toEqual(refused);
    for (const purpose of ['session', 'event:anonymous', 'question:anonymous', 'cursor:anonymous']) {
      const token = await server.signer.seal(purpose, { tool: 1, expires: 9e15, digest: '' });
      expect((await call({ requestState: token })).error).toEqual(refused);
    }
    const elsewhere = { ...server, signer: signer(async () => 'another key') };
    const foreign = await sealState(anonymousCall, { tool: 1 }, elsewhere);
    expect((await call({ requestState: foreign })).error).toEqual(refused);
  });

  test('of an older round, it leads to where that round led, and nothing is stored (D-23)', async () => {
    const { call, did } = client(asking(2));
    const first = (await call()).result;
    const once = { requestState: first.requestState, inputResponses: { sure: yes } };
    const second = (await call(once)).result;
    const done = await call({ requestState: second.requestState, inputResponses: { sure: yes } });
    expect(done.result.resultType).toBe('complete');
    expect((await call(once)).result).toMatchObject({ resultType: 'input_required', inputRequests: { sure: form } });
    expect(did).toEqual([]);
  });
});

function url(address: string, more: object = {}) {
  return { method: 'elicitation/create', params: { mode: 'url', url: address, message: 'Go', ...more } };
}

function sampling() {
  return { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } };
}

/** As much of a call as its state is bound to. */
const anonymousCall = {
  method: 'tools/call',
  params: { name: 'plain' },
  principal: { kind: 'anonymous' },
} as unknown as Call;
