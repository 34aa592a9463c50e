import type { Recorder } from './history.ts';
import type { Scope, Variables } from './jsonata/template.ts';
import type { Replay } from './replay.ts';
import type { Integration } from './types.ts';

/** The part that all states of one execution share. */
export interface Run {
  executionArn: string;
  stateMachineArn: string;
  roleArn: string;
  integrations: ReadonlyMap<string, Integration>;
  /** The only source of anything that could differ in a replay. */
  replay: Replay;
  history: Recorder;
}

/** The context of states: the whole execution, one branch, or one Map iteration. */
export interface FlowContext {
  run: Run;
  signal: AbortSignal;
  /** `$states.context` without State. */
  context: Readonly<Record<string, unknown>>;
  /** Variables of the outer flows: read here, never written. */
  variables: Variables;
  /** The id of the event before this flow. */
  event: number;
}

export interface Visit extends FlowContext {
  state: string;
  input: unknown;
}

export interface Step {
  output: unknown;
  assigned: Variables;
  /** undefined at the end of the flow. */
  next: string | undefined;
}

export interface State {
  name: string;
  type: string;
  visit(visit: Visit): Promise<Step>;
}

export interface Flow {
  startAt: string;
  states: ReadonlyMap<string, State>;
}

/** Runs a flow to its end and returns its output. Throws a StatesError, or the signal's reason. */
export async function runFlow(flow: Flow, input: unknown, flowContext: FlowContext): Promise<unknown> {
  let { variables, event } = flowContext;
  let output = input;
  for (let name: string | undefined = flow.startAt; name !== undefined; ) {
    flowContext.signal.throwIfAborted();
    const state: State = find(flow, name);
    event = flowContext.run.history.entered(state.type, name, event);
    const step: Step = await state.visit(enter(state, output, { ...flowContext, variables, event }));
    flowContext.signal.throwIfAborted();
    event = flowContext.run.history.add(`${state.type}StateExited`, event, { name });
    variables = { ...variables, ...step.assigned };
    output = step.output;
    name = step.next;
  }
  return output;
}

function find(flow: Flow, name: string): State {
  const state = flow.states.get(name);
  if (state === undefined) throw new Error(`no state '${name}'`);
  return state;
}

function enter(state: State, input: unknown, flowContext: FlowContext): Visit {
  const entered = { Name: state.name, EnteredTime: new Date(flowContext.run.replay.now()).toISOString() };
  return { ...flowContext, state: state.name, input, context: { ...flowContext.context, State: entered } };
}

/** The values that expressions of this state can read; `more` adds the result or the error. */
export function scopeOf(visit: Visit, more: Scope['states'] = {}): Scope {
  return {
    states: { input: visit.input, context: visit.context, ...more },
    variables: visit.variables,
    now: visit.run.replay.now(),
    random: visit.run.replay.random,
    during: `An error occurred while executing the state '${visit.state}' (entered at the event id #${visit.event}).`,
  };
}
