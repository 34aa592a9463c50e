import { type Fields, MOST_SECONDS } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { StatesError } from '../errors.ts';
import { type State, scopeOf, type Visit } from '../flow.ts';
import type { Answer } from '../journal/records.ts';
import { payload } from '../payload.ts';
import { refuse } from '../place.ts';
import { AGAIN, type Attempt } from '../replay.ts';
import type { Integration, IntegrationCall } from '../types.ts';
import { loadRecoverable } from './recovery.ts';
import { loadNumber } from './value.ts';

export function loadTask(fields: Fields, loader: Loader): State['visit'] {
  const resource = fields.text('Resource');
  if (!loader.resources.has(resource)) refuse(fields.at('Resource'), `no integration is registered for '${resource}'`);
  const task = taskName(resource);
  const template = loader.template(fields, 'Arguments');
  const timeout = loadNumber(fields, loader, 'TimeoutSeconds', { least: 1, most: MOST_SECONDS });

  return loadRecoverable(fields, loader, async (visit) => {
    const { replay, history } = visit.run;
    for (let again = false; ; again = true) {
      const value = template === undefined ? visit.input : await template(scopeOf(visit));
      const sent = payload(value, visit.state);
      const seconds = (await timeout?.(visit)) ?? Number.POSITIVE_INFINITY;
      visit.signal.throwIfAborted();
      if (!again) history.add('TaskScheduled', visit.event, task);
      const id = replay.random.uuid();
      const { executionArn, stateMachineArn, roleArn, integrations } = visit.run;
      const integration = integrations.get(resource.replace(/^arn:[^:]*/, 'arn:aws'));
      const make = async (attempt: Attempt): Promise<Answer> => {
        const call = { resource, arguments: sent, executionArn, stateMachineArn, roleArn, id, ...attempt };
        const result = await ask(integration, call);
        return result === AGAIN ? { again: true } : { result: payload(result, task.resourceType) };
      };
      const answer = await replay.call(visit.state, seconds * 1000, visit.signal, make, integration?.waits);
      if ('again' in answer) continue;
      if ('error' in answer) throw noteFailure(visit, task, new StatesError(answer.error, answer.cause));
      history.add('TaskSucceeded', visit.event, task);
      return answer.result;
    }
  });
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

function noteFailure(visit: Visit, task: ReturnType<typeof taskName>, failure: StatesError): StatesError {
  const type = failure.error === 'States.Timeout' ? 'TaskTimedOut' : 'TaskFailed';
  const cause = failure.detail === '' ? {} : { cause: failure.detail };
  visit.run.history.add(type, visit.event, { ...task, error: failure.error, ...cause });
  return failure;
}
