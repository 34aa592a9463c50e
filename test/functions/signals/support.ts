import type { Shown, SignalRequest, SignalsContext } from '../../../functions/signals/context.ts';
import { serve } from '../../../functions/signals/serve.ts';
import { newHookKey, newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskKey, TaskRecord } from '../../../functions/tasks/record.ts';
import { type Entry, journalStore } from '../../../functions/tasks/table/journal-items.ts';
import { signalPlaceStore } from '../../../functions/tasks/table/signal-places.ts';
import type { StoredWait } from '../../../functions/tasks/tool-contract.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { after } from '../../../functions/tasks/transitions/change.ts';
import { finish } from '../../../functions/tasks/transitions/end.ts';
import { signalPlace, signalUrl } from '../../../functions/tasks/waits/signal-url.ts';
import { memoryEngine, TABLE } from '../../support/engine/memory.ts';

export const T0 = Date.UTC(2036, 0, 15, 12);
export const DAY = 86_400_000;
const task = { tool: 'buy', ttl: 400 * DAY, timeout: 300 * DAY, accepts: [], legacy: false };
export const FORM = 'application/x-www-form-urlencoded';

export const linkOf = (properties: object, required: string[] = [], message = 'Buy it?'): StoredWait => ({
  kind: 'link',
  until: T0 + DAY,
  question: {
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties, required } },
  },
});
export const webhookOf = (schema?: Record<string, unknown>): StoredWait => ({
  kind: 'webhook',
  until: T0 + DAY,
  ...(schema && { schema }),
});
export const LINK = linkOf({ ok: { type: 'boolean' } }, ['ok']);
export const YES = { action: 'accept', content: { ok: true }, by: 'Ann' };

/** The function of signals before tasks in memory. */
export function setup(shown: Shown = { server: 'Shop', titles: { buy: 'Buy things' } }) {
  let now = T0;
  const engine = memoryEngine(() => now, 'signals');
  const logged: unknown[] = [];
  const journal = journalStore(engine.dynamoDb, TABLE);
  const places = signalPlaceStore(engine.dynamoDb, TABLE);
  const did = engine.did;
  const context: SignalsContext = {
    store: engine.store,
    journal: {
      readEntry(...asked) {
        did.push('readEntry');
        return journal.readEntry(...asked);
      },
    },
    places: {
      readPlace(place) {
        did.push('readPlace');
        return places.readPlace(place);
      },
    },
    inputs: engine.inputs,
    values: engine.objects,
    shown,
    log: (...line) => void logged.push(line),
    now: () => now,
    sleep: async () => {},
  };

  /** What any tool can write: that a place is of this task. */
  const forge = (place: string, key: TaskKey) =>
    places.writePlace({ ...key, round: 1, deadline: T0 + 300 * DAY }, place);

  const forgeEntry = (record: TaskRecord, entry: Entry) =>
    journal.writeEntry({ ...record, deadline: record.deadlineAt }, entry);

  /** A task in round 1, whose tool has stored these waits, and waits for them unless `works`. */
  async function taskWith(waits: Readonly<Record<string, StoredWait>>, { works = false, hookKey = newHookKey() } = {}) {
    const record: TaskRecord = create(
      newTaskKey({ kind: 'verified', key: 'owner#a1' }, now),
      { ...task, hookKey },
      now,
    );
    await forge(signalPlace(hookKey), record);
    for (const [name, wait] of Object.entries(waits)) {
      await forgeEntry(record, { kind: 'wait', name, value: JSON.stringify(wait) });
    }
    const waiting = Object.fromEntries(Object.entries(waits).map(([name, { kind, until }]) => [name, { kind, until }]));
    const returned = { text: '{}', asks: false, isError: false, waits: waiting };
    engine.records.set(works ? record : after(record, finish(record, returned, '{}', now)));
    return record;
  }

  /** The parts of the path of a wait. */
  function pathOf({ hookKey: key = '' }: TaskRecord, name: string) {
    const [place = '', part = '', mac = ''] = signalUrl({ url: '', key }, name).split('/').slice(-3);
    return { place, name: part, mac };
  }
  const ask = (path: SignalRequest['path'], more: Partial<SignalRequest> = {}) =>
    serve({ method: 'GET', headers: {}, body: '', ...more, path }, context);

  return {
    ...{ engine, context, logged, did, taskWith, pathOf, forge, forgeEntry, ask },
    stored: ({ taskId }: TaskRecord) => engine.records.get(taskId) as TaskRecord,
    pass: (ms: number) => {
      now += ms;
    },
    get: (record: TaskRecord, name = 'a') => ask(pathOf(record, name)),
    json: (record: TaskRecord, body: unknown, name = 'a', type = 'application/json') =>
      ask(pathOf(record, name), {
        method: 'POST',
        headers: { 'content-type': type },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    form: (record: TaskRecord, fields: Record<string, string> | [string, string][], name = 'a') =>
      ask(pathOf(record, name), {
        method: 'POST',
        headers: { 'content-type': FORM },
        body: new URLSearchParams(fields).toString(),
      }),
  };
}
