import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../tasks/limits.ts';
import type { Entry, EntryId, EntryKind, StoredJournal } from '../../tasks/table/journal-items.ts';
import type { TaskContext, ToolEvent } from '../../tasks/tool-contract.ts';
import { StepInterrupted, StepLost, ToolError } from '../errors.ts';
import type { Amount } from '../run-context.ts';
import { carriedOf, stepsOf } from './carried.ts';
import { jsonOf } from './json.ts';
import { isName } from './names.ts';
import type { JournalPort } from './port.ts';
import { openVariables } from './variables.ts';

const { journal: most } = limits;
/** What a task may store, and all that a call without a task may carry in its `requestState`. Bytes are of JSON. */
const STORED = { bytes: most.bytes, value: most.value, depth: limits.result.depth, string: Number.POSITIVE_INFINITY };
const CARRIED = { bytes: most.carried, value: most.carried, depth: 10, string: 64_000 };
/** Bytes that are kept free for each entry under way: for its name, and the reason why its value cannot be kept. */
const REASON = 400;
/** In place of the mark of the run that began an entry: another run has found it without a value. */
const INTERRUPTED = 'interrupted';

/** Hears what goes on, for the end of the round: a lookup, and work. */
interface Activity {
  readonly decide: <T>(lookup: Promise<T>) => Promise<T>;
  readonly work: <T>(work: () => Promise<T>, kind?: { readonly name: string }) => Promise<T>;
  /** Work that is done waits for its turn. */
  readonly inOrder: (name: string) => Promise<void>;
}
const ALONE: Activity = { decide: (lookup) => lookup, work: (work) => work(), inOrder: async () => {} };

/** How an earlier run got past a wait, where several waited at the same time. */
export interface Pass<Names = ReadonlySet<string>> {
  readonly wait: string;
  readonly place: number;
  /** Names of the other work that was under way. */
  readonly beside: Names;
  /** Names of the work whose code awaited it. */
  readonly inside: readonly string[];
}
export type StoredPass = Omit<Pass<readonly string[]>, 'place'>;

export type Journal = ReturnType<typeof openJournal>;

/** The journal of one run: what the runs of its task have done once, and their variables. */
export function openJournal(
  { task, requestState, inputResponses }: ToolEvent,
  port: JournalPort,
  { decide, work, inOrder }: Activity = ALONE,
) {
  const bounds = task === undefined ? CARRIED : STORED;
  const before = carriedOf(requestState);
  const variables = openVariables(before.variables, task?.round ?? 1);
  /** A call without a task brings only the answers to its last questions. */
  const answers = { ...before.answers, ...inputResponses };
  const askedBy = new Map(Object.entries(before.questions));
  const entries = new Map<string, Entry>();
  /** By the names of waits, in order. */
  const passes = new Map<string, Pass>();
  /** Names this run in the entries that it begins. */
  const mark = crypto.randomUUID();
  /** How many entries other runs had stored before this one. */
  let others = 0;
  /** Bytes of all values of a task, with the variables beside them. */
  let stored = 0;
  /** The bytes that are kept free for each entry under way. */
  const reserved = new Map<string, number>();
  const underWay = new Set<Promise<unknown>>();
  /** Whether another run works beside this one: it has stored an entry first. */
  let contended = false;
  let reported: StoredJournal['reported'];
  let reading: Promise<void> | undefined;
  let readForReports: Promise<void> | undefined;
  if (task === undefined) before.entries.forEach(add);

  function add(entry: Entry): void {
    entries.set(keyOf(entry), entry);
    if (entry.kind === 'pass') {
      const { wait, beside, inside }: StoredPass = JSON.parse(entry.value ?? '{}');
      passes.set(wait, { wait, place: Number(entry.name), beside: new Set(beside), inside });
    }
    stored += (entry.bytes ?? Buffer.byteLength(entry.value ?? '')) + Buffer.byteLength(entry.variables ?? '');
  }

  /** What travels with questions. What a task has done once is in its journal. */
  function carried(values = variables.all()): object {
    const questions = askedBy.size === 0 ? {} : { questions: Object.fromEntries(askedBy) };
    if (task !== undefined) return { variables: values, ...questions };
    return { variables: values, ...stepsOf([...entries.values()]), answers, ...questions };
  }

  const reservedBytes = (): number => [...reserved.values()].reduce((sum, bytes) => sum + bytes, 0);
  const hasRoom = (bytes: number): boolean =>
    (task === undefined ? sizeOf(carried()) : stored) + reservedBytes() + bytes <= bounds.bytes;

  const noRoom = (what: string): string =>
    task === undefined
      ? `does not fit: variables, steps and answers of a call without a task may take ${CARRIED.bytes} bytes together`
      : `does not fit: the ${what} of a task may take ${what === 'steps' ? STORED.bytes : CARRIED.bytes} bytes together`;

  /** Loads what other runs of the task may have stored. Reads once, and again if that failed. */
  function read(): Promise<void> {
    if (task === undefined || !mayHavePast(task)) return Promise.resolve();
    reading ??= port.read(task).then(
      (found) => {
        reported = found.reported;
        variables.add(found.entries);
        found.entries.forEach(add);
        others = entries.size;
      },
      (error: unknown) => {
        reading = undefined;
        throw error;
      },
    );
    return reading;
  }

  /** Stores an entry. Returns the one that counts: of two runs, the first one's. */
  async function put(entry: Entry, replaces?: string): Promise<Entry> {
    if (task === undefined) {
      add(entry);
      return entry;
    }
    // Each visit of a link or a webhook reads the entry of its wait: variables follow with the next step, or with the questions.
    const changes = entry.begun === undefined && entry.kind !== 'wait' ? variables.changes() : {};
    const mine = { ...entry, ...changes };
    const written = await port.write(task, mine, replaces).catch((error: unknown) => {
      variables.takeBack(changes);
      throw error;
    });
    if (written !== undefined) {
      add(written);
      return mine;
    }
    variables.takeBack(changes);
    contended = true;
    return (await find(task, entry)) ?? unreadable(entry);
  }

  /** What another run has stored since the journal was read. */
  async function find(task: TaskContext, id: EntryId): Promise<Entry | undefined> {
    const entry = await port.entry(task, id);
    if (entry === undefined) return undefined;
    variables.add([entry]);
    add(entry);
    return entry;
  }

  /** What an earlier run, or another one, has made. */
  async function past(id: EntryId): Promise<{ readonly value: unknown } | undefined> {
    await read();
    const known = entries.get(keyOf(id)) ?? (task && contended ? await find(task, id) : undefined);
    return known && { value: await resultOf(known) };
  }

  /** The value of an entry. Throws ToolError if it could not be kept, StepInterrupted, StepLost. */
  async function resultOf(entry: Entry): Promise<unknown> {
    const { kind, name, value, sha256, misfit, begun } = entry;
    if (misfit !== undefined) throw new ToolError(`${labelOf(entry)} ${misfit}`);
    if (value === undefined && sha256 === undefined) {
      if (begun === INTERRUPTED) throw new StepInterrupted(name);
      if (begun === undefined) throw new StepLost(name);
      // From now on no run can store a value: what this one throws holds for all.
      return resultOf(await put({ kind, name, begun: INTERRUPTED }, begun));
    }
    const text = value ?? (await port.largeValue(task as TaskContext, entry));
    try {
      return JSON.parse(text);
    } catch {
      throw new StepLost(name);
    }
  }

  /** Makes a value and stores it, in the room that is kept free for it. */
  async function makeAndPut(id: EntryId, make: () => unknown, atMostOnce: boolean): Promise<Entry> {
    if (!atMostOnce || task === undefined) return put({ ...id, ...fitted(id, await make()) });
    const begun = await put({ ...id, begun: mark });
    if (begun.begun !== mark) return begun;
    return put({ ...id, ...fitted(id, await make()) }, mark);
  }

  function fitted(id: EntryId, value: unknown): Pick<Entry, 'value' | 'misfit'> {
    const json = jsonOf(value, bounds);
    if ('problem' in json) return { misfit: json.problem };
    const bytes = Buffer.byteLength(json.text);
    if (bytes > bounds.value) return { misfit: `takes ${bytes} bytes as JSON, and may take ${bounds.value} bytes` };
    reserved.delete(keyOf(id));
    const fits = hasRoom(bytes + sizeOf(id.name));
    reserved.set(keyOf(id), fits ? bytes : REASON);
    return fits ? { value: json.text } : { misfit: noRoom('steps') };
  }

  return {
    /** Loads the journal now, for a run that needs its variables from the beginning. */
    read,
    /** Whether something is under way. */
    isBusy: () => underWay.size > 0,
    /** Whether the task has done something since this run began: another run would not begin where this one did. */
    hasNew: () => entries.size > others,
    /** The names of the steps that are stored, as far as this run knows. */
    steps: () => [...entries.values()].filter(({ kind }) => kind === 'step').map(({ name }) => name),
    getVariable: variables.get,
    /** Sets a variable. Throws a ToolError that names the limit if it is too large: then the variable keeps its value. */
    setVariable(name: string, value: unknown): void {
      const json = jsonOf(value, CARRIED);
      if ('problem' in json) throw new ToolError(`Variable '${name}' ${json.problem}`);
      const given: unknown = JSON.parse(json.text);
      const more = task === undefined ? reservedBytes() : 0;
      if (sizeOf(carried({ ...variables.all(), [name]: given })) + more > CARRIED.bytes) {
        throw new ToolError(`Variable '${name}' ${noRoom('variables')}`);
      }
      variables.set(name, given);
    },
    /** The answers to questions, by their names. */
    answers: task === undefined ? answers : inputResponses,
    /** The steps that asked, by the names of their questions. The next round gets them. */
    askedBy,
    /** What the next round gets as `requestState`. Throws a ToolError if that is too large. */
    requestState(): object {
      const state = carried();
      if (sizeOf(state) > CARRIED.bytes) throw new ToolError(`What the tool keeps ${noRoom('variables')}`);
      return state;
    },
    /**
     * Makes a value once for all runs of the task, and returns it from then on, as JSON keeps it. If two runs make it, the
     * one that is stored first counts in both. If `make` throws, nothing is stored.
     *
     * @param atMostOnce an entry is stored before `make`; a later run that finds no value throws StepInterrupted
     * @param begin throws if the run may not begin now what no run has done. @default it may
     * @throws ToolError if its name is not valid, if there is no room for a value, or if the value could not be kept
     */
    async once(
      kind: EntryKind,
      name: string,
      make: () => unknown,
      atMostOnce = false,
      begin?: () => void,
    ): Promise<unknown> {
      const id = { kind, name };
      if (!isName(name)) throw new ToolError(`${labelOf(id)}: a name has 1 to ${most.name} characters`);
      const known = await decide(past(id));
      if (known !== undefined) {
        await inOrder(keyOf(id));
        return known.value;
      }
      begin?.();
      if (entries.size + reserved.size >= most.entries) {
        throw new ToolError(`${labelOf(id)} does not fit: a task may have ${most.entries} steps`);
      }
      if (!hasRoom(REASON)) throw new ToolError(`${labelOf(id)} ${noRoom('steps')}`);
      reserved.set(keyOf(id), REASON);
      const made = work(() => makeAndPut(id, make, atMostOnce), { name: keyOf(id) });
      underWay.add(made);
      try {
        await Promise.allSettled([made]);
        await inOrder(keyOf(id));
        return await resultOf(await made);
      } finally {
        underWay.delete(made);
        reserved.delete(keyOf(id));
      }
    },
    /** By the names of the waits. */
    passes: (): ReadonlyMap<string, Pass> => passes,
    /** Waits for what is under way, and for what that begins: the next round would do it again. */
    async settled(): Promise<void> {
      const waited = new Set<Promise<unknown>>();
      for (let rest = [...underWay]; rest.length > 0; rest = [...underWay].filter((one) => !waited.has(one))) {
        await Promise.allSettled(rest);
        for (const one of rest) waited.add(one);
      }
    },
    /**
     * The amount that a report of this run may show. Undefined: an earlier run has reported more of the same total, and this
     * one repeats what that has done.
     */
    async amountOf(amount: Amount): Promise<Amount | undefined> {
      // The work goes on if this fails or takes seconds, as it does without a report that could not be written.
      readForReports ??= Promise.race([read().catch(() => {}), sleep(4_000, undefined, { ref: false })]);
      await readForReports;
      if (reported === undefined) return amount;
      if (amount.progress === undefined) return reported;
      if (amount.total === reported.total && amount.progress < reported.progress) return undefined;
      reported = undefined;
      return amount;
    },
  };
}

/** Whether another run of the task may have worked before this one, or works beside it. */
export const mayHavePast = ({ round, attempt, run }: TaskContext): boolean =>
  round > 1 || attempt > 0 || run !== undefined;

/** A run that may not read trusts its own value, and begins nothing that another may have begun. */
const unreadable = (entry: Entry): Entry => ({ ...entry, ...(entry.begun !== undefined && { begun: INTERRUPTED }) });

const keyOf = ({ kind, name }: EntryId): string => `${kind}#${name}`;
const labelOf = ({ kind, name }: EntryId): string =>
  `${kind === 'step' ? 'Step' : 'Wait'} '${String(name).slice(0, most.name)}'`;
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
