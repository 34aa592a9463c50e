import { InternalError, TooManyStreams } from '../../tasks/errors.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { parsed } from '../../tasks/shape.ts';
import type { Caller, ToolEvent } from '../../tasks/tool-contract.ts';
import type { Call, ServerContext } from '../context.ts';
import { acceptsStream } from '../http/http.ts';
import { EventStream } from '../http/sse.ts';
import { isRepeatable, type ToolEntry } from '../manifest.ts';
import { asTaskUnread, isOutage, isThrottled } from '../protocol/aws-outage.ts';
import { inputResponsesOf } from '../protocol/call-params.ts';
import type { Params } from '../protocol/jsonrpc.ts';
import { checkedResult } from '../read/results.ts';
import { answerDue } from '../stream/answer-due.ts';
import { watch } from '../stream/held.ts';
import { type HeldCall, holdFor } from '../stream/held-call.ts';
import { hold } from '../stream/hold.ts';
import { askDirectly, isModernCall, openState, questionsIn } from '../stream/input-required.ts';
import { stillRunningResult } from '../wire/still-running-result.ts';
import { errorResult, toolResult } from '../wire/tool-result.ts';
import { cancelTask } from './tasks-cancel.ts';

/** In ms. A task that ends within this time is answered in plain JSON, even if a stream is possible. */
const GRACE = 300;

/** Calls a forbidden tool, and stores nothing. If the tool asks, its questions are the answer (D-20, D-24). */
export async function callDirectly(call: Call, server: ServerContext, tool: ToolEntry, args: Params): Promise<object> {
  const modern = isModernCall(call);
  const state = modern ? await openState(call, server) : undefined;
  const shown = call.principal.kind === 'verified' ? call.principal.shown : undefined;
  const event: ToolEvent = {
    name: tool.name,
    arguments: args,
    accepts: call.accepts,
    inputResponses: modern ? inputResponsesOf(call) : {},
    requestState: state?.tool ?? null,
    ...(shown !== undefined && { caller: parsed(shown) as Caller }),
  };
  const outcome = await server.invoke(tool, JSON.stringify(event)).catch((error: unknown) => {
    throw directCallError(error, tool);
  });
  if ('error' in outcome && outcome.error === 'timeout') {
    return call.wire.toolResult(errorResult(`Tool ${tool.name} did not answer within ${tool.timeout / 1_000} seconds`));
  }
  if ('error' in outcome) throw new InternalError('The tool failed', { reason: outcome.error });
  const asked = questionsIn(parseReturned(outcome.text));
  if (asked === undefined) {
    return call.wire.toolResult(checkedResult(toolResult(outcome.text), server.tools.get(tool.name)));
  }
  if (modern) return askDirectly(call, asked.questions, asked.state, server);
  throw new InternalError('The tool asked for input, which it can do in 2025-11-25 only if it may run as a task');
}

/**
 * Waits for a task and returns its answer. A task that ends quickly is answered in JSON. After that the answer comes on
 * a stream if the client accepts one and can be sent progress or questions, otherwise in JSON when it is due. A caller
 * with too many waiting requests does not wait.
 */
export async function deliver(
  call: Call,
  record: TaskRecord,
  delivers: HeldCall['delivers'],
  server: ServerContext,
): Promise<object | EventStream> {
  const held = holdFor(call, record, delivers, server);
  const streams = acceptsStream(call.request) && (call.wire.asksOnStream || held.progressToken !== undefined);
  const longest = delivers === 'result' ? server.manifest.holdCap : server.manifest.inlineWindow;
  const until = server.now() + (streams ? GRACE : longest);
  try {
    for await (const seen of watch(call.principal, record, until, server, { grace: GRACE })) {
      if (seen === 'waiting') continue;
      if (seen === 'crowded' && delivers === 'result') throw new TooManyStreams(server.manifest.maxStreams);
      if (seen === 'crowded') return call.wire.toolResult(stillRunningResult(record, server));
      const answer = answerDue(seen, held, call, server);
      if (answer) return await answer();
      if (seen?.status !== 'input_required' || !call.wire.asksOnStream) continue;
      if (streams) break;
      if (delivers === 'call') return await cancelUnaskable(call, seen, server);
    }
  } catch (error) {
    throw asTaskUnread(error, record.taskId);
  }
  if (streams) return new EventStream(hold(held, call, server));
  throw new InternalError('The task is not finished: accept text/event-stream to wait longer');
}

/** 2025-11-25 asks on a stream, and this client accepts none: cancels the task, and says why. */
async function cancelUnaskable(call: Call, record: TaskRecord, server: ServerContext): Promise<object> {
  await cancelTask(call.principal, record.taskId, server);
  const text = `Tool ${record.tool} needs input, which can only be asked for on a text/event-stream.`;
  return call.wire.toolResult(errorResult(text));
}

/** The error of a failed direct call: retryable only if the tool certainly did not run, or is declared repeatable. */
function directCallError(error: unknown, tool: ToolEntry): unknown {
  if (isRepeatable(tool) || isThrottled(error) || !isOutage(error)) return error;
  logUnexpected(error, 'direct call');
  return new InternalError('The answer of the tool was lost: it may have run', undefined, error);
}

/** Not every runtime returns valid JSON: Python writes NaN and Infinity. */
function parseReturned(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InternalError('The tool did not return JSON', { reason: 'InvalidJson' }, error);
  }
}
