import { expect, test } from 'vitest';
import { acceptedKinds, capabilityFor, TASKS_CAPABILITY } from '../../../../functions/mcp/protocol/capabilities.ts';

const [form, url, sampling, roots] = [
  ...['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'],
];

test.each<[unknown, unknown[]]>([
  [undefined, []],
  ['elicitation', []],
  [{}, []],
  [{ elicitation: {} }, [form]],
  [{ elicitation: { form: {} } }, [form]],
  [{ elicitation: { url: {} } }, [url]],
  [{ elicitation: { form: {}, url: {} } }, [form, url]],
  [{ elicitation: true, sampling: true, roots: [] }, []],
  [{ sampling: {} }, [sampling]],
  [{ roots: { listChanged: true } }, [roots]],
  [{ elicitation: {}, sampling: {}, roots: {} }, [form, sampling, roots]],
])('a client that declares %j can be asked %j (E-32, B-18, D-22)', (capabilities, kinds) => {
  expect(acceptedKinds(capabilities)).toEqual(kinds);
});

test.each([
  [form, { elicitation: {} }],
  [url, { elicitation: { url: {} } }],
  [sampling, { sampling: {} }],
  [roots, { roots: {} }],
])('to be asked %s a client declares %j (D-10)', (kind, capability) => {
  expect(capabilityFor(String(kind))).toEqual(capability);
});

test('to be given tasks it declares the extension (E-02)', () => {
  expect(TASKS_CAPABILITY).toEqual({ extensions: { 'io.modelcontextprotocol/tasks': {} } });
});
