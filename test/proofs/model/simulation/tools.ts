import type { ToolEvent, Wait } from '../../../../functions/tasks/tool-contract.ts';
import { enveloped } from '../../../../functions/tool/envelope.ts';
import { EndedRound } from '../../../../functions/tool/waits/ended-round.ts';
import { type Integration, StatesError } from '../../../../local/testing.ts';
import type { WaitTruth } from '../checks/truth.ts';
import type { Outcome } from '../scenario.ts';
import type { Agenda } from './agenda.ts';
import type { Draw } from './draw.ts';
import type { Faults } from './process.ts';
import { firstOf, type Kept, storeWaits, waitsOfRun } from './tool-waits.ts';

/** How a run of the tool ended. */
export type Ran =
  | { readonly kind: 'result'; readonly text: string; readonly isError: boolean }
  | { readonly kind: 'asks'; readonly text: string; readonly waits?: string }
  | { readonly kind: 'waits'; readonly text: string; readonly waits: string }
  /** `reason`: what the task will have failed with. */
  | { readonly kind: 'fails'; readonly reason: string };

export interface ToolWatcher {
  /** The tool begins; how often it has begun in this round. */
  begins(event: ToolEvent): number;
  ended(event: ToolEvent, ran: Ran): void;
  /** No run was started, or it is not known. */
  failed(event: ToolEvent, reason: string): void;
  /** What the runs of its task have stored of their waits. */
  waits(event: ToolEvent): Map<string, WaitTruth>;
  /** The tool reports how far it is. */
  reports(event: ToolEvent): Promise<void>;
}

const question = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
};
const badQuestion = { method: 'elicitation/create', params: { message: '?', requestedSchema: { type: 'list' } } };

/** Lambda as a tool workflow calls it, and the one function behind all tools: it does what its plan says. */
export function toolFunction(
  plans: readonly (readonly Outcome[])[],
  agenda: Agenda,
  faults: Faults,
  watcher: ToolWatcher,
  killExecution: (arn: string, error: string) => void,
): Integration {
  return ({ arguments: sent, executionArn, signal }) =>
    new Promise((resolve, reject) => {
      const event = (sent as { Payload: ToolEvent }).Payload;
      const name = `${event.name} of ${event.task?.taskId} round ${event.task?.round}`;
      const fail = (reason: string) => {
        watcher.failed(event, reason);
        reject(new StatesError(reason, 'What AWS says. (Service: Lambda)'));
      };
      const end = (ran: Ran) => {
        watcher.ended(event, ran);
        if (ran.kind === 'fails') return reject(new StatesError(ran.reason, '{"errorMessage":"a secret"}'));
        return resolve({ StatusCode: 200, Payload: enveloped(event, returned(ran)) });
      };
      const run = (fault: Fault) => {
        const attempt = watcher.begins(event);
        const planned = planOf(event, plans);
        const waits = watcher.waits(event);
        for (const { until } of storeWaits(event, plans[planIndex(event)] ?? [], waits, agenda.now())) {
          for (const ms of [-1_000, 1_000]) agenda.at(until + ms, () => {});
        }
        if (planned === 'never') return;
        const ends = () => {
          if (fault === 'unheard') return fail('Lambda.SdkClientException');
          if (planned === 'too large') return fail('States.DataLimitExceeded');
          return end(outcomeOf(planned, event, attempt, waitsOfRun(planned, event, waits, agenda.now())));
        };
        agenda.add({
          label: `${name} works`,
          act(draw) {
            if (draw(4) !== 1) return ends();
            void watcher.reports(event).then(() => agenda.add({ label: `${name} goes on`, act: ends }));
          },
        });
      };
      agenda.add({
        label: `invoke ${name}`,
        act(draw) {
          // The execution is over: the request may have been on its way.
          if (signal.aborted && draw(2) === 0) return;
          const fault = faultOf(draw, faults);
          if (fault !== 'none') faults.struck++;
          if (fault === 'throttled') return fail('Lambda.TooManyRequestsException');
          if (fault === 'down') return fail('Lambda.ServiceException');
          if (fault === 'killed') return killExecution(executionArn, 'States.Runtime');
          run(fault);
        },
      });
    });
}

const FAULTS = ['throttled', 'down', 'killed', 'unheard'] as const;
type Fault = (typeof FAULTS)[number] | 'none';

function faultOf(draw: Draw, { rate }: Faults): Fault {
  return draw(100) < 100 - rate ? 'none' : (FAULTS[draw(FAULTS.length)] ?? 'none');
}

function planOf(event: ToolEvent, plans: readonly (readonly Outcome[])[]): Outcome {
  // A tool that asks first runs from round 2 on where its questions were the task's.
  return plans[planIndex(event)]?.[(event.task?.round ?? 1) - 1] ?? 'text';
}

const planIndex = (event: ToolEvent): number => (event.arguments as { plan: number }).plan;

/** What the function returns. */
function returned({ text, ...ran }: Exclude<Ran, { kind: 'fails' }>) {
  const value = JSON.parse(text);
  if (!('waits' in ran) || ran.waits === undefined) return value;
  const { inputRequests: questions, requestState } = value;
  return new EndedRound({ ...(questions && { questions }), waits: JSON.parse(ran.waits) }, requestState);
}

function outcomeOf(
  planned: Outcome,
  event: ToolEvent,
  attempt: number,
  waits: Readonly<Record<string, Wait>> | undefined,
): Ran {
  const said = `round ${event.task?.round} attempt ${attempt}`;
  const first = firstOf(event);
  const requestState: Kept = { said, ...(first !== undefined && { first }) };
  const waited = waits && { waits: JSON.stringify(waits) };
  const asks = (inputRequests: object): Ran => ({
    kind: 'asks',
    text: JSON.stringify({ inputRequests, requestState }),
    ...waited,
  });
  if (waited && planned !== 'asks and waits') {
    return { kind: 'waits', text: JSON.stringify({ requestState }), ...waited };
  }
  switch (planned) {
    case 'asks and waits':
    case 'asks':
      return asks({ a: question });
    case 'asks twice':
      return asks({ a: question, b: question });
    case 'asks badly':
      return asks({ a: badQuestion });
    case 'throws':
      return { kind: 'fails', reason: 'TypeError' };
    case 'crashes':
      return { kind: 'fails', reason: 'Runtime.ExitError' };
    case 'error result': {
      const text = JSON.stringify({ content: [{ type: 'text', text: said }], isError: true });
      return { kind: 'result', text, isError: true };
    }
    default:
      return { kind: 'result', text: JSON.stringify(said), isError: false };
  }
}
