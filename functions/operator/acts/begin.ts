import type { EngineContext } from '../../engine/ports.ts';
import { type FirstStart, startFirst } from '../../engine/start-round.ts';
import { traitsOf } from '../../tasks/engines.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { hasRoom, roundInput } from '../../tasks/round-input.ts';
import { withInput } from '../../tasks/s3/moved-input.ts';
import type { OperatorContext } from '../context.ts';
import { NotAllowed, OperatorError } from '../errors.ts';
import { type Outcome, orUnknown, readRecord } from './act.ts';
import { withRights } from './rights.ts';

type Began = Omit<Outcome, 'taskId'>;

/** As the endpoint creates a task: its input, its record, its first round. Throws OperatorError. */
export async function begin(made: TaskRecord, args: string, context: OperatorContext): Promise<Began> {
  const engine = withRights(context, { policy: 'payload', otherwise: 'Not run again', action: 'create a task' });
  return orUnknown(create(made, args, context, engine), engine, (message) => ({ done: false, message }));
}

async function create(made: TaskRecord, args: string, context: OperatorContext, engine: EngineContext): Promise<Began> {
  const { record, text, keeps } = withInput(made, args);
  const input = roundInput(made, args, keeps);
  if (!hasRoom(input)) throw new OperatorError('Its arguments are too large to start with: 256 KiB with their escapes');
  if (text !== undefined) await engine.inputs.put(record, text);
  if (!(await engine.store.create(record))) {
    const there = await readRecord(record, false, context);
    // The SDK has repeated a put whose answer was lost.
    if (!isSame(there, record)) return alreadyDone(there);
  }
  const first = await startFirst(record, input, engine);
  if (first.start === 'failed' && first.error instanceof NotAllowed) throw first.error;
  return said(first, record);
}

const isSame = (a: TaskRecord, b: TaskRecord): boolean => {
  const [first, other] = [a.events[0], b.events[0]];
  return a.createdAt === b.createdAt && first?.who === other?.who && first?.reason === other?.reason;
};

function alreadyDone({ taskId, events, status }: TaskRecord): Began {
  const { who, reason } = events[0] ?? {};
  const by = who === undefined ? '' : ` by ${who}${reason ? ` (“${reason}”)` : ''}`;
  const message = `Not run again: it was run again before${by}, as ${taskId}, which is ${status}. Act on that task, or use --force`;
  return { done: false, message };
}

function said(first: FirstStart, record: TaskRecord): Began {
  const { taskId } = record;
  const { canBeStopped, hasHistory } = traitsOf(record);
  const seeIt = `See what it did: mcp-task-server tasks show ${taskId}`;
  switch (first.start) {
    case 'started':
      return { done: true, newTaskId: taskId, message: `Runs again as ${taskId}` };
    case 'over': {
      const { status } = first.seen;
      const message = `Not run again: the new task ${taskId} was ${status} before its run began. The run is stopped. ${seeIt}`;
      return { done: false, message };
    }
    default: {
      const left = hasHistory ? 'It ends within 2 minutes' : 'The sweep starts it within 8 minutes';
      const end = first.start !== 'late' && first.failed ? 'It is failed' : left;
      const run = canBeStopped ? 'is stopped' : 'can change nothing';
      const message = `Not run again: the new task ${taskId} could not be started (${whyNot(first)}). ${end}, and its run, if it began, ${run}. ${seeIt}`;
      return { done: false, message };
    }
  }
}

function whyNot(first: Exclude<FirstStart, { start: 'started' | 'over' }>): string {
  if (first.start === 'late') return `the start came more than ${limits.startWithin / 1_000} s late`;
  return first.start === 'taken' ? 'another run has its name' : (first.error as Error).name;
}
