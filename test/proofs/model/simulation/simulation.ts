import type { Workflow } from '../../../../functions/engine/ports.ts';
import { describer } from '../../../../functions/reconciler/describe.ts';
import { byDocumentClient } from '../../../../functions/tasks/aws/dynamodb.ts';
import { workflow } from '../../../../functions/tasks/aws/workflow.ts';
import { asOf, lapse, overdue } from '../../../../functions/tasks/deadlines.ts';
import { executionArnOf } from '../../../../functions/tasks/ids.ts';
import { outstanding } from '../../../../functions/tasks/input.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { RoundInput } from '../../../../functions/tasks/round-input.ts';
import { type TaskStore, taskStore } from '../../../../functions/tasks/table/store.ts';
import type { ToolEvent } from '../../../../functions/tasks/tool-contract.ts';
import { isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import { type Integration, StatesError } from '../../../../local/testing.ts';
import { type Carry, documentClient } from '../../../support/engine/client.ts';
import { type Execution, MACHINES } from '../../../support/engine/executions.ts';
import { createTable, type Table, type Update, type Written } from '../../../support/engine/table.ts';
import { fromItem } from '../../../support/engine/values.ts';
import { announce } from '../actors/reconciler.ts';
import { tellStream } from '../actors/stream.ts';
import { ASK_FIRST, manifest, toolWorkflow } from '../actors/tools.ts';
import { checkBegin, checkExecution } from '../checks/starts.ts';
import { createTruth, type TaskTruth, type Truth } from '../checks/truth.ts';
import { checkWrite, SKEW } from '../checks/writes.ts';
import type { Scenario } from '../scenario.ts';
import { type Agenda, createAgenda } from './agenda.ts';
import { describe, isBeside } from './describe.ts';
import { type Faults, type Life, type Process, startProcess } from './process.ts';
import { createStepFunctions, machineOf, type StepFunctions } from './step-functions.ts';
import { toolFunction } from './tools.ts';

/** What a process has of the simulation. */
export interface Services {
  readonly store: TaskStore;
  readonly workflow: Workflow;
  readonly describe: ReturnType<typeof describer>;
}
export type Owner = 'endpoint' | 'reconciler' | 'tool' | 'signals' | 'operator';

/** What a seeded bug can put in the place of a part; as it is, a part is the real one. */
export interface Parts {
  readonly services: (real: Services, of: Owner) => Services;
  /** The definition of a tool workflow. */
  readonly definition: (text: string) => string;
  readonly table: (real: Table) => Table;
  /** Same name, same execution. */
  readonly namesAreUnique: boolean;
  /** The minute's tick is heard. */
  readonly sweeps: boolean;
}

export const REAL: Parts = {
  services: (real) => real,
  definition: (text) => text,
  table: (real) => real,
  namesAreUnique: true,
  sweeps: true,
};

export interface Simulation {
  readonly agenda: Agenda;
  readonly faults: Faults;
  readonly parts: Parts;
  readonly truth: Truth;
  readonly table: Table;
  readonly stepFunctions: StepFunctions;
  /** Tasks whose ids clients have, in the order they got them. */
  readonly accepted: string[];
  trace(line: string): void;
  start(life: Life): Process;
  services(process: Process, of: Owner): Services;
  /** Calls of which those that find nothing are not worth a choice. */
  quiet(process: Process): Carry;
  /** A client has the id of a task. */
  tell(taskId: string): void;
  checkCancelled(taskId: string, status: string | undefined): void;
  checkAnswered(taskId: string, keys: readonly string[]): void;
  /** Nothing fails but by the faults of the run. */
  checkError(error: unknown, where: string): void;
  runOf(record: Pick<TaskRecord, 'taskId' | 'round'>): Execution | undefined;
}

export const T0 = 1_700_000_000_000;
/** In ms: Step Functions gives up its own calls after this. */
const CALL_TIMEOUT = 5_000;
const INJECTED = new Set(['ThrottlingException', 'TooManyStarts', 'TimeoutError', 'ExecutionDoesNotExist']);

export function createSimulation(scenario: Scenario, parts: Parts, trace: (line: string) => void): Simulation {
  const { plans, skews } = scenario;
  const faults: Faults = { ...scenario.faults, struck: 0 };
  const seconds = () => `${(agenda.now() - T0) / 1_000}`.padStart(4);
  const note = (line: string) => trace(`${seconds()}  ${line}`);
  const agenda = createAgenda(T0, note);
  const truth = createTruth(note);
  const accepted: string[] = [];
  let processes = 0;
  let sent = { at: 0, order: 0 };
  let order = 0;

  const table = parts.table(createTable(agenda.now, (write) => wrote(write)));
  const wrote = ({ key, before, after }: Written) => {
    note(`  ${key}: ${describe(after, T0)}`);
    if (isBeside(after)) return;
    const record = fromItem(after) as unknown as TaskRecord;
    const task = truth.task(record.taskId) ?? newTruth(record);
    if (before === undefined) checkOpenTasks(record.owner);
    const run = runOf(before === undefined ? record : task.record);
    const write = { before: before && task.record, after: record, now: agenda.now(), sent, run, askFirst: ASK_FIRST };
    checkWrite(write, task, truth);
    task.record = record;
    task.history.push({ order: ++order, record });
    tellStream({ before, after }, simulation);
  };
  const newTruth = (record: TaskRecord) => {
    const task: TaskTruth = {
      record,
      history: [],
      promised: false,
      cancelAsked: false,
      refused: false,
      starters: 0,
      startFailed: false,
      overtaken: false,
      rounds: new Map(),
      waits: new Map(),
    };
    truth.tasks.set(record.taskId, task);
    // Time that passes until something happens also stops where what has happened begins to look different.
    for (const seconds of [-1, 1, 9, 11, 29, 31]) agenda.at(record.deadlineAt + seconds * 1_000, () => {});
    return task;
  };
  /** For a client, to whom it is gone, over or out of time. */
  const isLate = (record: TaskRecord): boolean => {
    const seen = asOf(record, agenda.now() + SKEW);
    return seen === undefined || isTerminal(seen.status) || overdue(record, agenda.now() + SKEW) !== undefined;
  };
  const checkOpenTasks = (owner: string) => {
    const clearlyOpen = ({ record, overtaken }: { record: TaskRecord; overtaken: boolean }) => {
      const past = agenda.now() + 2 * SKEW;
      const over =
        isTerminal(record.status) || lapse(record, past) !== undefined || past >= record.createdAt + record.ttl;
      return record.owner === owner && !over && !overtaken;
    };
    const open = [...truth.tasks.values()].filter(clearlyOpen).length;
    if (open > manifest.maxOpenTasks) truth.violated(`An owner has ${open} open tasks`);
  };
  const runOf: Simulation['runOf'] = (round) => stepFunctions.get(executionArnOf(round, `${MACHINES}standard`));

  const carry =
    (process: Process): Carry =>
    (what, carryOut) => {
      const issued = { at: process.now(), order: ++order };
      return process.call(what, (stale) => {
        sent = issued;
        return carryOut(stale);
      });
    };
  const start: Simulation['start'] = (life) =>
    startProcess({ ...life, skew: (skews[processes++] ?? 0) * 1_000 }, agenda, faults, note);
  const services: Simulation['services'] = (process, of) => {
    const store = taskStore(byDocumentClient(documentClient(table, carry(process))), 'tasks');
    const client = stepFunctions.client(process);
    return parts.services({ store, workflow: workflow(client, MACHINES), describe: describer(client) }, of);
  };

  // The service itself: it does not die.
  const service = startProcess({ name: 'Step Functions', callTimeout: CALL_TIMEOUT }, agenda, faults, note);
  const finish: Integration = async ({ arguments: sent }) => {
    try {
      const { Key, ...request } = sent as Update;
      return await carry(service)(`finish ${Key.taskId?.S}`, () => table.update({ Key, ...request }));
    } catch (error) {
      if ((error as Error).name === 'ValidationException') truth.violated(`Finish is refused: ${String(error)}`);
      throw new StatesError(`DynamoDB.${(error as Error).name}`);
    }
  };
  const invoke = toolFunction(
    plans,
    agenda,
    faults,
    {
      begins(event) {
        checkBegin(event, truth);
        return truth.round(event.task?.taskId ?? '', event.task?.round ?? 0)?.begun ?? 0;
      },
      ended: (event, ran) => void roundOf(event)?.ran.push(ran),
      waits: ({ task }) => truth.task(task?.taskId ?? '')?.waits ?? new Map(),
      failed: (event, reason) => void roundOf(event)?.failures.push(reason),
      async reports(event) {
        const { task } = event;
        if (task === undefined) return;
        const process = start({ name: `tool of ${task.taskId}`, callTimeout: CALL_TIMEOUT });
        const { store: own } = services(process, 'tool');
        // As functions/tool/run-context.ts does it.
        const seen = await own.readStatus(task).catch(() => undefined);
        if (seen?.status !== 'working' || seen.round !== task.round) return;
        await own.report(task, { message: 'half of it', progress: 1 }, process.now()).catch(() => undefined);
      },
    },
    (arn, error) => stepFunctions.fail(arn, error),
  );
  const roundOf = ({ task }: ToolEvent) => truth.round(task?.taskId ?? '', task?.round ?? 0);
  const machines = new Map([[`${MACHINES}standard`, machineOf('standard', parts.definition(toolWorkflow))]]);
  const stepFunctions = createStepFunctions(
    {
      machines,
      integrations: new Map<string, Integration>([
        ['arn:aws:states:::lambda:invoke', invoke],
        ['arn:aws:states:::dynamodb:updateItem', finish],
      ]),
      namesAreUnique: parts.namesAreUnique,
      started: ({ input }) => checkExecution(JSON.parse(input) as RoundInput, agenda.now(), truth),
      stopping(execution) {
        note(`  stops ${execution.name}`);
        const { taskId, round } = JSON.parse(execution.input) as RoundInput;
        const record = truth.task(taskId)?.record;
        const wanted = record?.status === 'working' && record.round === round;
        if (wanted) truth.violated(`Work is stopped that somebody waits for: ${execution.name}`);
      },
      ended: (execution) => ended(execution),
    },
    agenda,
  );
  const ended = (execution: Execution) => {
    note(`  ${execution.name} ${execution.status} ${execution.error ?? ''}`);
    if (execution.status !== 'SUCCEEDED') return announce(simulation, execution);
    const { taskId, round } = JSON.parse(execution.input) as RoundInput;
    const record = truth.task(taskId)?.record;
    const open = record?.status === 'working' && record.round === round;
    if (open && overdue(record, agenda.now()) === undefined) truth.violated(`An outcome is lost: ${execution.name}`);
  };

  const simulation: Simulation = {
    agenda,
    faults,
    parts,
    truth,
    table,
    stepFunctions,
    accepted,
    trace: note,
    start,
    services,
    runOf,
    quiet: (process) => (what, carryOut) => {
      const finds = (stale: boolean) => (carryOut(stale) as { Items?: unknown[] }).Items?.length !== 0;
      if (finds(false) || finds(true)) return process.call(what, carryOut);
      return Promise.resolve(carryOut(false));
    },
    tell(taskId) {
      if (accepted.includes(taskId)) return;
      accepted.push(taskId);
      const task = truth.task(taskId);
      if (task === undefined) truth.violated(`A client has the id of a task without a record: ${taskId}`);
      else task.accepted = agenda.now();
    },
    checkCancelled(taskId, status) {
      const record = truth.task(taskId)?.record;
      if (record === undefined) return;
      if (status !== undefined && status !== record.status)
        truth.violated(`${taskId} was ${status}, and is ${record.status}`);
      const over = isTerminal(record.status) || isLate(record);
      if (!over) truth.violated(`A cancel was acknowledged, and ${taskId} is ${record.status}`);
    },
    checkAnswered(taskId, keys) {
      const record = truth.task(taskId)?.record;
      if (record === undefined || isTerminal(record.status)) return;
      const open = Object.keys(outstanding(record)).filter((key) => keys.includes(key));
      const taken = keys.every((key) => Object.hasOwn(record.inputResponses ?? {}, key));
      if (!isLate(record) && (open.length > 0 || !taken))
        truth.violated(`An answer was acknowledged and is lost: ${taskId} ${keys}`);
    },
    checkError(error, where) {
      const { name } = error as Error;
      if (!INJECTED.has(name)) truth.violated(`${where} fails with ${name}: ${(error as Error).stack}`);
    },
  };
  return simulation;
}
