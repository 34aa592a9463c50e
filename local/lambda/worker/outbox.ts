import type { MessagePort } from 'node:worker_threads';
import type { FromWorker } from '../protocol.ts';

/**
 * Posts messages to the cloud. The parts of a streamed answer wait for the end of the turn, or for the next message of
 * another kind, so a short answer is one message. Others go out at once, in order: the thread may end at any moment.
 */
export function createOutbox(port: Pick<MessagePort, 'postMessage'>): (message: FromWorker) => void {
  let waiting: FromWorker[] = [];
  const flush = () => {
    if (waiting.length > 1) port.postMessage({ type: 'batch', messages: waiting });
    else if (waiting.length === 1) port.postMessage(waiting[0]);
    waiting = [];
  };
  process.on('exit', flush);
  return (message) => {
    const isPart = message.type === 'chunk' || message.type === 'end';
    // It has its own listener, which reads no batch.
    if (message.type === 'heap') flush();
    waiting.push(message);
    if (!isPart) flush();
    else if (waiting.length === 1) setImmediate(flush);
  };
}
