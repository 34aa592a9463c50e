import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import type { IntegrationCall } from '../../../step-functions/index.ts';
import { temporaryDir } from '../../fixture.ts';
import { executionArn, type Local, RESOURCE, serve, until } from '../support.ts';

type Specs = Parameters<typeof serve>[0];
type Setup = Parameters<typeof serve>[1];

export const hang = () => new Promise<never>(() => {});
export const arn = executionArn('a');
/** The clock of a process that starts this much later. */
export const later = (seconds: number) => () => Date.now() + seconds * 1000;
export const call = (fields: object = {}) => ({ Type: 'Task', Resource: RESOURCE, ...fields });

/** Answers the calls in turn. Later calls get no answer. */
export function answers(...results: unknown[]) {
  const calls: IntegrationCall[] = [];
  const integration = async (one: IntegrationCall) => {
    const index = calls.push(one) - 1;
    const result = index < results.length ? results[index] : hang();
    if (result instanceof Error) throw result;
    return result;
  };
  return { calls, integration };
}

/** A journal for each test of a file, and engines that continue from it, one after the other. */
export function useJournal() {
  let journal = '';
  beforeEach(() => {
    const dir = temporaryDir();
    journal = join(dir, 'journal.jsonl');
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  });
  const open = (specs: Specs, setup: Setup = {}) => serve(specs, { journal, ...setup });

  /** Starts an execution called a, and turns the power off once `ready`. */
  async function interrupted(specs: Specs, setup: Setup, ready: (local: Local) => boolean): Promise<void> {
    const local = await open(specs, setup);
    await local.start({ i: 1 }, 'a');
    await until(() => ready(local));
    // Waits for the effects of the last event only.
    await new Promise((resolve) => setImmediate(resolve));
    await local.engine.stop();
  }
  return { open, interrupted, file: () => journal };
}
