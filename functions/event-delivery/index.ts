import type { SQSEvent } from 'aws-lambda';
import { fanOut } from '../events/fan-out.ts';
import { postSigned } from '../events/post/post.ts';
import { eventsStore } from '../events/store.ts';
import { dynamoDb } from '../tasks/aws/dynamodb.ts';
import { variable } from '../tasks/aws/env.ts';
import type { HideMessage, SendFifo } from '../tasks/aws/sqs.ts';
import { print } from '../tasks/log.ts';
import { eventItems } from '../tasks/table/events/items.ts';
import { handleMessages, type QueueContext, type QueueName } from './handle.ts';
import { failureLines, logAttempt, measureLines } from './metrics.ts';

/** However busy the owner is, an event is sent after this time, in ms. */
const MOST_HELD = 5 * 60_000;

function createContext(env: NodeJS.ProcessEnv): QueueContext {
  const db = dynamoDb({ requestTimeout: 2_000, attempts: 3 });
  const server = variable(env, 'SERVER_NAME');
  const queues: Readonly<Record<QueueName, string>> = {
    deliveries: variable(env, 'EVENTS_QUEUE_URL'),
    newEvents: variable(env, 'NEW_EVENTS_QUEUE_URL'),
  };
  const quiet = Number(variable(env, 'EVENTS_HOLD'));
  const loopback = env.EVENTS_LOOPBACK === 'true';
  const options = { requestTimeout: 3_000, attempts: 3 };
  const hiders = new Map<QueueName, HideMessage>();
  const sender = (name: QueueName): SendFifo => {
    let sends: SendFifo | undefined;
    return async (messages) => {
      sends ??= (await import('#mcp-task-server/sqs')).fifoSender(queues[name], options);
      return sends(messages);
    };
  };
  const kept = Number(variable(env, 'EVENTS_KEPT'));
  const items = eventItems(db, variable(env, 'TASKS_TABLE'));
  const log = { items, send: sender('deliveries'), sendNews: sender('newEvents'), now: Date.now, kept };
  return {
    store: eventsStore(log),
    fanOut: fanOut(log),
    post: (post) => postSigned(post, { loopback }),
    async hide(name, receiptHandle, seconds) {
      const hide = hiders.get(name) ?? (await import('#mcp-task-server/sqs')).messageHider(queues[name], options);
      hiders.set(name, hide);
      await hide(receiptHandle, seconds);
    },
    hold: quiet > 0 ? { quiet, most: MOST_HELD } : undefined,
    now: Date.now,
    measure(attempt) {
      logAttempt(attempt);
      print(measureLines(attempt, server, Date.now()));
    },
    measureFailure: (queue, age) => print(failureLines(queue, age, server, Date.now())),
  };
}

const context = createContext(process.env);

/** Handles messages of the queues of deliveries and of new events. */
export const handler = (event: SQSEvent) => handleMessages(event, context);
