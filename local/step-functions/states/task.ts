import { childAbort, untilAborted } from '../abort.ts';
import { type Fields, MOST_SECONDS } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { refuse } from '../definition/place.ts';
import { asStatesError, StatesError } from '../errors.ts';
import { type State, scopeOf, type Visit } from '../flow.ts';
import { payload } from '../payload.ts';
import type { Integration, IntegrationCall } from '../types.ts';
import { loadNumber } from './number.ts';
import { loadRecoverable } from './recovery.ts';

export function loadTask(fields: Fields, loader: Loader): State['visit'] {
  const resource = fields.text('Resource');
  if (!loader.resources.has(resource)) refuse(fields.at('Resource'), `no integration is registered for '${resource}'`);
  const task = taskName(resource);
  const template = loader.template(fields, 'Arguments');
  const timeout = loadNumber(fields, loader, 'TimeoutSeconds', { least: 1, most: MOST_SECONDS });

  return loadRecoverable(fields, loader, async (visit) => {
    const value = template === undefined ? visit.input : await template(scopeOf(visit));
    const sent = payload(value, visit.state);
    const seconds = (await timeout?.(visit)) ?? Number.POSITIVE_INFINITY;
    visit.signal.throwIfAborted();
    visit.run.journal.add('TaskScheduled', visit.event, task);
    try {
      const result = payload(await invoke(visit, resource, sent, seconds), task.resourceType);
      visit.run.journal.add('TaskSucceeded', visit.event, task);
      return result;
    } catch (thrown) {
      visit.signal.throwIfAborted();
      const failure = asStatesError(thrown, 'States.TaskFailed');
      noteFailure(visit, task, failure);
      throw failure;
    }
  });
}

/** One call, bounded by the timeout and by everything that ends the execution. */
async function invoke(visit: Visit, resource: string, sent: unknown, seconds: number): Promise<unknown> {
  const attempt = childAbort(visit.signal);
  const timeOut = () => attempt.abort(new StatesError('States.Timeout'));
  const cancel = visit.run.timers.after(seconds * 1000, timeOut);
  const { executionArn, stateMachineArn, roleArn } = visit.run;
  try {
    const call = { resource, arguments: sent, executionArn, stateMachineArn, roleArn, signal: attempt.signal };
    return await untilAborted(ask(visit.run.integrations.get(resource), call), attempt.signal);
  } finally {
    cancel();
    attempt.release();
  }
}

async function ask(integration: Integration | undefined, call: IntegrationCall): Promise<unknown> {
  if (integration === undefined) throw new StatesError('States.Runtime', `no integration for '${call.resource}'`);
  return integration(call);
}

/** `arn:aws:states:::aws-sdk:lambda:invoke` is resource invoke of type aws-sdk:lambda. */
function taskName(arn: string): { resourceType: string; resource: string } {
  const [, path] = arn.split(':::');
  const [, resourceType, resource] = /^(aws-sdk:[^:]+|[^:]+):(.+)$/.exec(path ?? '') ?? [];
  return { resourceType: resourceType ?? arn, resource: resource ?? arn };
}

function noteFailure(visit: Visit, task: { resourceType: string; resource: string }, failure: StatesError): void {
  const type = failure.error === 'States.Timeout' ? 'TaskTimedOut' : 'TaskFailed';
  const cause = failure.cause_ === '' ? {} : { cause: failure.cause_ };
  visit.run.journal.add(type, visit.event, { ...task, error: failure.error, ...cause });
}
