import { type JsonObject, objectOf } from '../json.ts';
import type { CallFacts, FaultSpec } from './types.ts';

/** Thrown instead of the answer of the call: its connection is lost. */
export class ConnectionLost extends Error {
  constructor() {
    super('the connection was lost (on purpose)');
  }
}

/** The input of a call; empty if it is unreadable, as its service refuses the call. */
export function readInput({ input }: Pick<CallFacts, 'input'>): JsonObject {
  try {
    return objectOf(input());
  } catch {
    return {};
  }
}

/** Refuses to kill a process that runs more than the cloud. */
export function checkMortal(mortal: boolean): void {
  if (!mortal) throw new Error('killProcess is for a cloud that was started as mortal, in its own process');
}

/** Refuses a fault at a point that no call passes, or that has no meaning there: it would never strike. */
export function checkSpec({ service, operation, at = 'before', do: fault }: FaultSpec): void {
  const refuse = (why: string): never => {
    throw new Error(`no such fault: ${why}`);
  };
  const kind = typeof fault === 'string' ? fault : Object.keys(fault)[0];
  const kills = kind === 'killWorker' || kind === 'killAfterMs';
  if (at === 'midway' && service !== 'apigateway') refuse(`nothing of ${service} is midway`);
  if (at === 'midway' && kind === 'error') refuse('the status of the answer was already sent');
  const delivers = service === 'streams' || (service === 'events' && operation !== 'PutEvents');
  const express = service === 'states' && operation === 'RunExpress';
  const doubles = ((service === 'events' && delivers) || express) && at === 'before';
  if (kind === 'double' && !doubles) refuse('only events are doubled, before their delivery, and Express executions');
  if (kind === 'doubleAfterMs' && !(express && at === 'before')) refuse('only Express executions run once more later');
  if (kind === 'loseAfter' && !express) refuse('only Express executions are lost');
  if (express && (at !== 'before' || kind === 'error' || kind === 'killWorker'))
    refuse('no caller waits for RunExpress');
  const streams = kind === 'holdChunks' || kind === 'emptyEndsAfterMs';
  if (streams && (service !== 'apigateway' || at !== 'before')) refuse(`${kind} is of apigateway, and before`);
  if (kills && delivers) refuse('no worker delivers events');
  if (kills && service === 'apigateway' && at === 'before') refuse('no worker answers yet');
  if (operation !== 'Run') return;
  if (service !== 'lambda' || at !== 'before') refuse('Run is of lambda, and before');
  if (kind === 'drop' || kind === 'error') refuse('no caller waits for a Run');
}
