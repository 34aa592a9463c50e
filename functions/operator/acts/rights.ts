import { ENDED } from '../../tasks/attributes.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { after, type Change, isTerminal } from '../../tasks/transitions/change.ts';
import type { OperatorContext } from '../context.ts';
import { NotAllowed } from '../errors.ts';
import { isDenied } from '../runs.ts';
import { type ActContext, readRecord } from './act.ts';

/** What the act of an operator needs, and what to say where AWS refuses it. */
interface Rights {
  readonly policy: 'act' | 'payload';
  /** What does not happen without the right: `Not answered`. */
  readonly otherwise: string;
  /** What needs the right: `read its arguments`. */
  readonly action: string;
}

/** The context of the engine, with the rights of an operator: a call that AWS refuses throws NotAllowed. */
export function withRights(context: OperatorContext, rights: Rights): ActContext {
  const { store, inputs, workflow } = context;
  let sent: TaskRecord | undefined;
  const write = async (record: TaskRecord, change: Change): Promise<boolean> => {
    sent ??= record;
    try {
      return await store.applyBlind(record, change);
    } catch (error) {
      throw isDenied(error) ? new NotAllowed(`Task ${record.taskId} is unchanged`, rights.policy, 'change it') : error;
    }
  };
  return {
    ...context,
    sent: () => sent,
    store: {
      create(record) {
        sent ??= record;
        return allowed(store.create(record), rights);
      },
      get: (key) => readRecord(key, rights.policy === 'payload', context),
      // No policy allows to read a record back by a write.
      async apply(record, change) {
        const kept = keepPayload(change);
        return (await write(record, kept)) ? after(record, kept) : undefined;
      },
      applyBlind: write,
    },
    inputs: {
      put: (record, text) => allowed(inputs.put(record, text), rights),
      whole: (record) => allowed(inputs.whole(record), rights),
    },
    workflow: {
      start: (...round) => allowed(workflow.start(...round), { ...rights, action: 'start its workflow' }),
      stop: (...round) => workflow.stop(...round),
    },
  };
}

/** The end of a task leaves its payload: the act policy may not name that. It expires with the record. */
function keepPayload(change: Change): Change {
  if (change.set.status === undefined || !isTerminal(change.set.status)) return change;
  const may = new Set<string>(ENDED);
  return { ...change, remove: (change.remove ?? []).filter((name) => may.has(name)) };
}

async function allowed<T>(call: Promise<T>, { otherwise, policy, action }: Rights): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const denied = isDenied(error) || (error as { code?: string }).code === 'AccessDenied';
    throw denied ? new NotAllowed(otherwise, policy, action) : error;
  }
}
