import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorBody, ToWorker, WorkerSettings } from '../protocol.ts';
import { followClock } from './clock.ts';
import { currentEvent } from './event.ts';
import { failureBody, rejectionBody } from './failure.ts';
import { heapBytes } from './heap.ts';
import { installJsonConsole } from './json-console.ts';
import { type LoadedHandler, loadHandler } from './load.ts';
import { createOutbox } from './outbox.ts';
import { captureOutput } from './output.ts';
import { acknowledge, runInvocation } from './run.ts';
import { installStreaming } from './streamify.ts';

const port = parentPort;
if (!port) throw new Error('thread-entry.ts runs in a worker thread only');
const post = createOutbox(port);

function die(error: ErrorBody): never {
  post({ type: 'fatal', error });
  process.exit(1);
}

async function load(settings: WorkerSettings): Promise<LoadedHandler> {
  try {
    return await loadHandler(settings.codePath, settings.handler);
  } catch (error) {
    return die(failureBody(error));
  }
}

delete process.env.NODE_COMPILE_CACHE;
// For code with a source map: a stack then names the author's files.
process.setSourceMapsEnabled(true);
captureOutput(post);
const { AWS_LAMBDA_LOG_FORMAT, AWS_LAMBDA_LOG_LEVEL = 'INFO' } = process.env;
if (AWS_LAMBDA_LOG_FORMAT === 'JSON') installJsonConsole(AWS_LAMBDA_LOG_LEVEL, () => currentEvent.getStore());
installStreaming();
process.on('uncaughtException', (error) => die(failureBody(error)));
process.on('unhandledRejection', (reason) => die(rejectionBody(reason)));

const settings = workerData as WorkerSettings;
if (settings.clock) followClock(settings.clock);
const handler = await load(settings);
port.on('message', (message: ToWorker) => {
  if (message.type === 'ack') acknowledge(message);
  else if (message.type === 'ping') post({ type: 'pong' });
  else if (message.type === 'weigh') post({ type: 'heap', bytes: heapBytes() });
  else void runInvocation(handler, message, post);
});
post({ type: 'ready' });
