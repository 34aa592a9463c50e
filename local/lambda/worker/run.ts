import { finished } from 'node:stream/promises';
import { type AckMessage, ended, type FromWorker, type InvokeMessage } from '../protocol.ts';
import { createContext } from './context.ts';
import { currentEvent } from './event.ts';
import { errorFacts, failureBody, runtimeError } from './failure.ts';
import type { Callback, LoadedHandler } from './load.ts';
import { collectingSink, createResponseStream, type PortSink, portSink, type Sink } from './response-stream.ts';

type Post = (message: FromWorker) => void;

/** The streams of the running events, by request id. */
const sinks = new Map<string, PortSink>();

export function acknowledge({ id, bytes }: AckMessage): void {
  sinks.get(id)?.acknowledge(bytes);
}

/** Runs one event to its end and reports the end in exactly one message. */
export async function runInvocation(handler: LoadedHandler, invocation: InvokeMessage, post: Post): Promise<void> {
  const { id } = invocation;
  try {
    const answer = invocation.mode === 'streaming' ? answerStream : answerWhole;
    post(await currentEvent.run(id, answer, handler, invocation, post));
  } catch (error) {
    post({ type: 'failed', id, error: failureBody(error), facts: errorFacts(error) });
  } finally {
    sinks.delete(id);
  }
}

async function answerWhole(handler: LoadedHandler, invocation: InvokeMessage): Promise<FromWorker> {
  const payload = handler.streaming
    ? await collect(handler, invocation)
    : serialize(await call(handler, JSON.parse(invocation.payload), createContext(invocation)));
  return ended(invocation.id, payload);
}

async function answerStream(handler: LoadedHandler, invocation: InvokeMessage, post: Post): Promise<FromWorker> {
  const { id } = invocation;
  if (!handler.streaming) {
    throw runtimeError(
      'InvalidStreamingOperation',
      `${invocation.functionArn} does not stream: wrap its handler in awslambda.streamifyResponse.`,
    );
  }
  const sink = portSink(id, post);
  sinks.set(id, sink);
  await runAndStream(handler, invocation, sink);
  return { type: 'done', id };
}

async function collect(handler: LoadedHandler, invocation: InvokeMessage): Promise<string> {
  const sink = collectingSink();
  await runAndStream(handler, invocation, sink);
  return sink.text();
}

/** The invocation lasts until the handler has returned and its stream has ended, whichever comes last. */
async function runAndStream(handler: LoadedHandler, invocation: InvokeMessage, sink: Sink): Promise<void> {
  const stream = createResponseStream(sink);
  const streamed = finished(stream);
  streamed.catch(() => undefined); // the error of the handler itself reports the failure
  const returned = handler.call(JSON.parse(invocation.payload), stream, createContext(invocation));
  if (!isPromise(returned)) throw new Error('Streaming does not support non-async handlers.');
  await returned;
  await streamed;
}

function call(handler: LoadedHandler, event: unknown, context: unknown): unknown {
  if (handler.call.length < 3) return handler.call(event, context);
  return new Promise((resolve, reject) => {
    const callback: Callback = (error, value) => (error ? reject(error) : resolve(value));
    const returned = handler.call(event, context, callback);
    if (isPromise(returned)) returned.then(resolve, reject);
  });
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function serialize(value: unknown): string {
  try {
    return JSON.stringify(value === undefined ? null : value) ?? 'null';
  } catch {
    throw runtimeError('JSONStringifyError', 'Unable to stringify response body');
  }
}
