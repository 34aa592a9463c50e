import { AsyncLocalStorage } from 'node:async_hooks';

/** The request id of the event that the running code belongs to: a worker may have many at once. */
export const currentEvent = new AsyncLocalStorage<string>();
