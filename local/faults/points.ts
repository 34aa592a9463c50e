import type { FaultSpec } from './types.ts';

/** Thrown in place of what the call would have answered: its connection is gone. */
export class ConnectionLost extends Error {
  constructor() {
    super('the connection was lost (on purpose)');
  }
}

/** Refuses to kill a process that is not the cloud's alone. */
export function checkMortal(mortal: boolean): void {
  if (!mortal) throw new Error('killProcess is for a cloud that was started as mortal, in a process of its own');
}

/** Refuses a fault at a point that no call passes, or where it means nothing: a test would wait for it in vain. */
export function checkSpec({ service, operation, at = 'before', do: fault }: FaultSpec): void {
  const refuse = (why: string): never => {
    throw new Error(`no such fault: ${why}`);
  };
  const kind = typeof fault === 'string' ? fault : Object.keys(fault)[0];
  const kills = kind === 'killWorker' || kind === 'killAfterMs';
  if (at === 'midway' && service !== 'apigateway') refuse(`nothing of ${service} is midway`);
  if (at === 'midway' && kind === 'error') refuse('the status of the answer is out');
  if (kind === 'double' && (service !== 'events' || at !== 'before')) refuse('only events are doubled, before');
  if (kills && service === 'events') refuse('no worker delivers events');
  if (kills && service === 'apigateway' && at === 'before') refuse('no worker answers yet');
  if (operation !== 'Run') return;
  if (service !== 'lambda' || at !== 'before') refuse('Run is of lambda, and before');
  if (kind === 'drop' || kind === 'error') refuse('nobody hears of a Run');
}
