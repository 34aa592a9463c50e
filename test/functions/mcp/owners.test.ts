import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { methods } from '../../../functions/mcp/methods/index.ts';
import {
  type Given,
  legacy,
  modern,
  OPERATIONS,
  OWNERS,
  type Owner,
  ownersServer,
  REASONS,
  unknown,
  use,
} from './support/owners-server.ts';

test('two owners in any order: foreign is unknown and stays unchanged (C-28, E-15, F-15, G-15)', async () => {
  const step = fc.record({
    who: fc.integer({ min: 0, max: 1 }),
    operation: fc.constantFrom(...Object.keys(OPERATIONS)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const here = ownersServer();
      const given = [await use(here, OWNERS[0]), await use(here, OWNERS[1])];
      for (const { who, operation } of steps) {
        const [own, other] = [given[who], given[1 - who]];
        const does = OPERATIONS[operation];
        const me = OWNERS[who];
        if (own === undefined || other === undefined || does === undefined || me === undefined) throw new Error('no');
        const foreign = other[does.kind];
        const before = JSON.stringify(here.records.all());
        here.audited.splice(0);
        const seen = await here.send(me, does.send(foreign, own));
        const told = here.audited.splice(0);
        const [same, nothing] = [seen.body.replaceAll(foreign, '*'), unknown(foreign)];
        const expected = await here.send(me, does.send(nothing, own));
        expect([operation, seen.status, same]).toEqual([
          operation,
          expected.status,
          expected.body.replaceAll(nothing, '*'),
        ]);
        expect(seen.headers).toEqual(expected.headers);
        // The log says so, and gives nothing away that opens anything.
        const reason = REASONS[does.kind];
        const taskId = does.kind === 'taskId' ? { taskId: foreign } : {};
        expect(told).toEqual([JSON.stringify({ event: 'audit', action: 'denied', owner: me, ...taskId, reason })]);
        expect(JSON.stringify(here.records.all())).toBe(before);
      }
    }),
    { numRuns: 25 },
  );
});

test.each(Object.keys(OPERATIONS))("and what is one's own is not refused: %s", async (operation) => {
  const here = ownersServer();
  const own = await use(here, OWNERS[0]);
  const does = OPERATIONS[operation];
  if (does === undefined) throw new Error('no');
  const mine = await here.send(OWNERS[0], does.send(own[does.kind], own));
  const nobodys = await here.send(OWNERS[0], does.send(unknown(own[does.kind]), own));
  expect([mine.status, mine.body]).not.toEqual([nobodys.status, nobodys.body]);
  expect(mine.status).toBeLessThan(300);
});

test('every method of both revisions is included, except those without an id to bring back', () => {
  const all = [...methods.legacy.keys(), ...methods.modern.keys()];
  const missing = all.filter((method) => !Object.keys(OPERATIONS).some((operation) => operation.includes(method)));
  expect(missing.filter((method) => method !== 'subscriptions/listen')).toEqual(['initialize', 'server/discover']);
});

test.each(['2025-11-25', '2026-07-28'])(
  "an owner's idempotency key means nothing to another: it makes another task (%s)",
  async (era) => {
    const here = ownersServer();
    const call = async (who: Owner, n: number) => {
      const params = { name: 'optional', arguments: { n }, ...(era === '2025-11-25' && { task: {} }) };
      const sent = era === '2025-11-25' ? legacy('tools/call', params) : modern('tools/call', params);
      const { body } = await here.send(who, { ...sent, headers: { ...sent.headers, 'idempotency-key': 'the same' } });
      const { result, error } = JSON.parse(body);
      return error?.message ?? result.task?.taskId ?? result.taskId;
    };
    const [anns, bens] = [await call(OWNERS[0], 1), await call(OWNERS[1], 2)];
    expect([here.records.get(anns)?.owner, here.records.get(bens)?.owner]).toEqual([...OWNERS]);
    expect(await call(OWNERS[0], 1)).toBe(anns);
    expect(await call(OWNERS[1], 1)).toMatch(/was used for another call/);
  },
);

test("a list holds all of one's own tasks, and no other (C-23)", async () => {
  const here = ownersServer();
  const given = [await use(here, OWNERS[0]), await use(here, OWNERS[1])];
  for (const [at, owner] of OWNERS.entries()) {
    const { body } = await here.send(owner, legacy('tasks/list', {}, given[at]?.session));
    const listed = JSON.parse(body).result.tasks.map(({ taskId }: { taskId: string }) => taskId);
    const own = here.records
      .all()
      .filter((record) => record.owner === owner)
      .map(({ taskId }) => taskId);
    expect(listed.toSorted()).toEqual(own.toSorted());
    expect(listed.length).toBeGreaterThan(0);
  }
});

describe('anonymous callers', () => {
  const kinds: (keyof Given)[] = ['cursor', 'eventId', 'sessionEventId', 'question'];
  test.each(Object.entries(OPERATIONS).filter(([, { kind }]) => kinds.includes(kind)))(
    'what one session was given opens nothing in another: %s',
    async (_operation, { kind, send }) => {
      const here = ownersServer('anonymous');
      const [own, other] = [await use(here, OWNERS[0]), await use(here, OWNERS[0])];
      const seen = await here.send(OWNERS[0], send(other[kind], own));
      const nobodys = await here.send(OWNERS[0], send(unknown(other[kind]), own));
      expect([seen.status, seen.body]).toEqual([nobodys.status, nobodys.body]);
      expect((await here.send(OWNERS[0], send(own[kind], own))).status).toBeLessThan(300);
    },
  );

  test('the id of a task is enough to read it; a session lists its own tasks (C-36, E-30)', async () => {
    const here = ownersServer('anonymous');
    const [own, other] = [await use(here, OWNERS[0]), await use(here, OWNERS[0])];
    for (const sent of [
      legacy('tasks/get', { taskId: other.taskId }, own.session),
      modern('tasks/get', { taskId: other.taskId }),
    ]) {
      expect((await here.send(OWNERS[0], sent)).body).toContain('"input_required"');
    }
    const { body } = await here.send(OWNERS[0], legacy('tasks/list', {}, own.session));
    expect([body.includes(own.taskId), body.includes(other.taskId)]).toEqual([true, false]);
  });

  test.each(Object.entries(OPERATIONS).filter(([, { kind }]) => kind === 'taskId'))(
    'a task of a verified caller from before is unknown: %s (E-15, E-30)',
    async (_operation, { send }) => {
      const [before, here] = [ownersServer(), ownersServer('anonymous')];
      const { taskId } = await use(before, OWNERS[0]);
      const own = await use(here, OWNERS[0]);
      const task = before.records.get(taskId) ?? expect.unreachable();
      here.records.set(task);
      const [seen, nobodys] = [taskId, unknown(taskId)].map((id) => here.send(OWNERS[0], send(id, own)));
      expect((await seen)?.body.replaceAll(taskId, '*')).toBe((await nobodys)?.body.replaceAll(unknown(taskId), '*'));
      expect(here.records.get(taskId)).toEqual(task);
    },
  );
});
