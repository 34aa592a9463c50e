import { type FaultCall, type JsonObject, objectOf } from '../../../../local/testing.ts';

/** Which task a call is of, as far as it says so. */
export interface Whose {
  readonly taskId?: string | undefined;
  /** `<taskId>-r<round>`, where the call is of a round. */
  readonly run?: string | undefined;
  /** What the call is about where it names no task: the method, and the tool. */
  readonly about?: string | undefined;
}

/** What a call is about that tells changes of tasks. */
export const STREAM = 'the stream';

/** What a call is about by which a workflow lets the server store a large result. */
export const OUTCOME = 'a large result';

type Facts = Pick<FaultCall, 'service' | 'operation' | 'input'>;

export function whose({ service, operation, input }: Facts): Whose {
  if (service === 'dynamodb') return ofKey(input);
  if (service === 'states') return ofRun(text(input.name) ?? text(input.executionArn)?.split(':').at(-1));
  if (service === 'streams' || input.Records !== undefined || operation === 'PutEvents') return { about: STREAM };
  if (service === 'events') return ofRun(text(objectOf(input.detail).name));
  const kept = /^steps\/[^/]+\/([^/]+)\//.exec(text(input.Key) ?? '')?.[1];
  if (kept !== undefined) return { taskId: kept };
  const outcome = /^outcomes\/[^/]+\/([^/]+)\//.exec(text(input.Key) ?? '')?.[1];
  if (outcome !== undefined) return { taskId: outcome, about: OUTCOME };
  if (service === 's3')
    return ofRun(
      text(input.Key)
        ?.split('/')
        .at(-1)
        ?.replace(/(-a\d+)?(-[0-9a-f-]{36})?$/, ''),
    );
  if (service === 'apigateway') return ofRequest(input);
  if (service !== 'lambda') return {};
  if (operation === 'Run' && input.detail !== undefined) return ofRun(text(objectOf(input.detail).name));
  if (operation === 'Run' && input.httpMethod !== undefined) return ofRequest(input);
  const { task, outcome: sent } = operation === 'Run' ? input : parsed(input.Payload);
  // Not a run of the tool: that has ended.
  if (sent !== undefined) return { taskId: text(objectOf(sent).taskId), about: OUTCOME };
  const { taskId, round } = objectOf(task);
  return taskId === undefined ? {} : ofRun(`${taskId}-r${round}`);
}

/** Beside the tasks there are places and sessions; what a run writes, or queries, has the id of its task. */
function ofKey({ Item, Key, ExpressionAttributeValues: values }: JsonObject): Whose {
  const taskId = text(objectOf(objectOf(Item ?? Key ?? { taskId: objectOf(values)[':taskId'] }).taskId).S);
  // The place of links: a read of it says no task.
  if (taskId === '#task') return { taskId: text(parsed(objectOf(objectOf(values)[':value']).S).taskId) };
  return taskId === undefined || taskId.startsWith('#') ? {} : { taskId: taskId.replace(/#(step|wait|pass)#.*$/s, '') };
}

function ofRun(run: string | undefined): Whose {
  const at = run?.lastIndexOf('-r') ?? -1;
  return at === -1 ? {} : { taskId: run?.slice(0, at), run };
}

function ofRequest({ body }: JsonObject): Whose {
  const { method, params } = parsed(body);
  const { taskId, name } = objectOf(params);
  return { taskId: text(taskId), about: `${method} ${name}` };
}

function parsed(value: unknown): JsonObject {
  if (typeof value !== 'string') return objectOf(value);
  try {
    return objectOf(JSON.parse(value));
  } catch {
    return {};
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
