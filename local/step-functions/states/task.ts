import { tokenOf } from '../../iam/task-token.ts';
import { type Fields, MOST_SECONDS } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { integrationName, waitsForToken } from '../definition/resource.ts';
import { StatesError } from '../errors.ts';
import { type State, scopeOf, type Visit } from '../flow.ts';
import type { Answer } from '../journal/records.ts';
import { queryError } from '../jsonata/template.ts';
import { payload } from '../payload.ts';
import { refuse } from '../place.ts';
import { AGAIN, type Attempt, type TokenTimes } from '../replay.ts';
import type { Integration, IntegrationCall } from '../types.ts';
import { loadRecoverable } from './recovery.ts';
import { loadNumber } from './value.ts';

export function loadTask(fields: Fields, loader: Loader): State['visit'] {
  const resource = fields.text('Resource');
  const name = integrationName(resource);
  if (!loader.resources.has(name)) refuse(fields.at('Resource'), `no integration is registered for '${resource}'`);
  const task = taskName(resource);
  const waits = waitsForToken(resource);
  const template = loader.template(fields, 'Arguments');
  const timesOf = loadTimes(fields, loader, waits);

  return loadRecoverable(fields, loader, async (visit) => {
    const { replay, history, executionArn, stateMachineArn, roleArn, integrations } = visit.run;
    const integration = integrations.get(name.replace(/^arn:[^:]*/, 'arn:aws'));
    for (let again = false; ; again = true) {
      let id = waits ? replay.random.uuid() : '';
      const token = waits ? tokenOf(executionArn, id) : undefined;
      const now = token === undefined ? visit : withToken(visit, token);
      const value = template === undefined ? visit.input : await template(scopeOf(now));
      const sent = payload(value, visit.state);
      const times = await timesOf(now);
      visit.signal.throwIfAborted();
      if (!again) history.add('TaskScheduled', visit.event, task);
      if (!waits) id = replay.random.uuid();
      const make = async (attempt: Attempt): Promise<Answer> => {
        const call = { resource, arguments: sent, executionArn, stateMachineArn, roleArn, id, ...attempt };
        const result = await ask(integration, call);
        return result === AGAIN ? { again: true } : { result: payload(result, task.resourceType) };
      };
      const send = (signal: AbortSignal) =>
        replay.call(visit.state, times.milliseconds, signal, make, integration?.waits);
      const submitted = () => history.add('TaskSubmitted', visit.event, task);
      const answer =
        token === undefined ? await send(visit.signal) : await callback(visit, token, times, send, submitted);
      if ('again' in answer) continue;
      if ('error' in answer) throw noteFailure(visit, task, new StatesError(answer.error, answer.cause));
      history.add('TaskSucceeded', visit.event, task);
      return answer.result;
    }
  });
}

/** Loads TimeoutSeconds, and HeartbeatSeconds of a task with a token: the second must be less than the first. */
function loadTimes(fields: Fields, loader: Loader, waits: boolean): (visit: Visit) => Promise<TokenTimes> {
  const bounds = { least: 1, most: MOST_SECONDS };
  const timeout = loadNumber(fields, loader, 'TimeoutSeconds', bounds);
  const heartbeat = waits ? loadNumber(fields, loader, 'HeartbeatSeconds', bounds) : undefined;
  return async (visit) => {
    const seconds = (await timeout?.(visit)) ?? Number.POSITIVE_INFINITY;
    const beat = (await heartbeat?.(visit)) ?? Number.POSITIVE_INFINITY;
    if (heartbeat !== undefined && beat >= seconds) {
      throw queryError(scopeOf(visit), `The field 'HeartbeatSeconds' must be less than 'TimeoutSeconds'.`);
    }
    return { milliseconds: seconds * 1000, heartbeat: beat * 1000 };
  };
}

function withToken(visit: Visit, token: string): Visit {
  return { ...visit, context: { ...visit.context, Task: { Token: token } } };
}

/**
 * Calls, and waits for the answer for the token, which may come before the call ends. A call that fails ends the task.
 * @param submitted is called when the call has succeeded first
 */
async function callback(
  visit: Visit,
  token: string,
  times: TokenTimes,
  send: (signal: AbortSignal) => Promise<Answer>,
  submitted: () => void,
): Promise<Answer> {
  const over = new AbortController();
  const signal = AbortSignal.any([visit.signal, over.signal]);
  const answered = visit.run.replay.callback(visit.state, token, times, signal);
  const sent = send(signal).then((answer) => {
    if (!('result' in answer)) return answer;
    submitted();
    return answered;
  });
  try {
    return await Promise.race([answered, sent]);
  } finally {
    over.abort();
    await Promise.allSettled([answered, sent]);
  }
}

async function ask(integration: Integration | undefined, call: IntegrationCall): Promise<unknown> {
  if (integration === undefined) throw new StatesError('States.Runtime', `no integration for '${call.resource}'`);
  return integration(call);
}

/** `arn:aws:states:::aws-sdk:sfn:describeExecution` is the resource `describeExecution` of the type `aws-sdk:sfn`. */
function taskName(arn: string): { resourceType: string; resource: string } {
  const [, path] = arn.split(':::');
  const [, resourceType, resource] = /^(aws-sdk:[^:]+|[^:]+):(.+)$/.exec(path ?? '') ?? [];
  return { resourceType: resourceType ?? arn, resource: resource ?? arn };
}

const TIMED_OUT = ['States.Timeout', 'States.HeartbeatTimeout'];

function noteFailure(visit: Visit, task: ReturnType<typeof taskName>, failure: StatesError): StatesError {
  const type = TIMED_OUT.includes(failure.error) ? 'TaskTimedOut' : 'TaskFailed';
  const cause = failure.detail === '' ? {} : { cause: failure.detail };
  visit.run.history.add(type, visit.event, { ...task, error: failure.error, ...cause });
  return failure;
}
