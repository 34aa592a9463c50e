import { randomUUID } from 'node:crypto';
import { InternalError, InvalidParams, MissingClientCapability } from '../../tasks/errors.ts';
import { FAILURES } from '../../tasks/failures.ts';
import { bindingOf, listPartition } from '../../tasks/ids.ts';
import { outstanding } from '../../tasks/input.ts';
import { limits } from '../../tasks/limits.ts';
import { areQuestions, kindOf, type Questions } from '../../tasks/questions/question.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isDeeperThan, isObject } from '../../tasks/shape.ts';
import type { Call, ModernCall, ServerContext } from '../context.ts';
import { callDigest } from '../protocol/call-params.ts';
import { capabilityFor } from '../protocol/capabilities.ts';
import { complete } from '../read/read.ts';

/** Whether the questions of a call are its answer, and the client calls again. Else they come on its stream. */
export const isModernCall = (call: Call): call is ModernCall => !call.wire.asksOnStream;

/** The answer of a call without a task whose task asks: its questions, and a state that names the task (D-20). */
export async function inputRequired(call: ModernCall, record: TaskRecord, server: ServerContext): Promise<object> {
  const questions = outstanding(await complete(record, { questions: true }, server));
  checkDeclared(call, questions);
  const requestState = await sealState(call, { taskId: record.taskId }, server);
  return call.wire.result({ inputRequests: call.wire.questions(questions), requestState }, 'input_required');
}

/** The answer of a tool that asks without a task. Only a tool with state gets a `requestState` (D-21, D-24). */
export async function askDirectly(
  call: ModernCall,
  questions: Questions,
  state: unknown,
  server: ServerContext,
): Promise<object> {
  checkDeclared(call, questions);
  const requestState = state === undefined ? {} : { requestState: await sealState(call, { tool: state }, server) };
  return call.wire.result({ inputRequests: call.wire.questions(questions), ...requestState }, 'input_required');
}

/** Throws MissingClientCapability if a question is of a kind that this client did not declare (D-22). */
export function checkDeclared({ accepts, params }: Pick<Call, 'accepts' | 'params'>, questions: Questions): void {
  const kind = Object.values(questions)
    .map(kindOf)
    .find((needed) => !accepts.includes(needed));
  if (kind !== undefined) throw new MissingClientCapability(`Tool ${params.name} asks for input`, capabilityFor(kind));
}

/** The questions in a function's return value, if it has any. */
export function questionsIn(value: unknown): { questions: Questions; state: unknown } | undefined {
  if (!isObject(value) || !('inputRequests' in value)) return undefined;
  const { inputRequests, requestState } = value;
  if (!areQuestions(inputRequests) || isDeeperThan(requestState, limits.result.depth)) {
    throw new InternalError(FAILURES.InputRequestInvalid.message);
  }
  return { questions: inputRequests, state: requestState };
}

/** The state that a 2026-07-28 client carries from one round of a call to the next (D-20 to D-23). */
export interface RequestState {
  /** The task that waits for the answers. */
  readonly taskId?: string;
  /** The state of a tool that runs without a task. */
  readonly tool?: unknown;
}

interface Sealed extends RequestState {
  readonly digest: string;
  readonly expires: number;
}

const purpose = ({ principal }: Call) => `state:${bindingOf(principal)}`;

/** A new token each round. It opens only for the same caller, method and arguments, until it expires. */
export function sealState(call: Call, state: RequestState, server: ServerContext): Promise<string> {
  const expires = server.now() + limits.requestState;
  return server.signer.seal(purpose(call), { ...state, digest: callDigest(call), expires, round: randomUUID() });
}

/** Undefined if the request has no state (D-24). Throws InvalidParams for a forged, expired or foreign one. */
export async function openState(call: Call, server: ServerContext): Promise<RequestState | undefined> {
  const { requestState } = call.params;
  if (requestState === undefined) return undefined;
  const opened = typeof requestState === 'string' ? await server.signer.open(purpose(call), requestState) : undefined;
  const state = opened as Sealed | undefined;
  if (state === undefined || state.expires <= server.now() || state.digest !== callDigest(call)) {
    server.audit('denied', { owner: listPartition(call.principal), reason: 'request_state' });
    throw new InvalidParams('requestState is not valid for this request');
  }
  return state;
}
