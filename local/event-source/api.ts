import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import type { Streams } from '../dynamodb/stream/index.ts';
import { mappingProblems } from '../iam/deployed.ts';
import type { Iam } from '../iam/index.ts';
import { type JsonObject, parsedObject } from '../json.ts';
import { errorResponse, response } from '../lambda/http.ts';
import type { HttpRequest, HttpResponse } from '../lambda/types.ts';
import type { ResolvedStack, Resource } from '../template/resources.ts';
import type { Specs } from '../template/specs.ts';
import { DEFAULTS, readMapping } from './mappings.ts';
import type { EventSourceMapping } from './types.ts';

/** Clients write the path of the list with a slash at its end, or without. */
const PATH = /^\/2015-03-31\/event-source-mappings(?:\/([^/]*))?$/;
const MAPPING = 'AWS::Lambda::EventSourceMapping';

interface MappingsContext {
  readonly stacks: readonly ResolvedStack[];
  readonly specs: Specs;
  readonly streams: Pick<Streams, 'streamOf' | 'addConsumer'>;
  readonly iam: Pick<Iam, 'mayRole'>;
  /** Begins to read the stream of a mapping. */
  readonly onCreated: (mapping: EventSourceMapping) => void;
}

/**
 * Lambda's operations on event source mappings that an operator needs after a table was restored: `GetEventSourceMapping` and
 * `CreateEventSourceMapping`. What a client makes does not outlive the process.
 */
export function createMappings({ stacks, specs, streams, iam, onCreated }: MappingsContext) {
  const deployed = stacks.flatMap(({ resources }) => resources.filter(({ type }) => type === MAPPING));
  const known = new Map(deployed.map(({ ref = '', properties }) => [ref, properties]));
  const shown = (uuid: string, { FunctionName, ...properties }: JsonObject) => {
    const target = specs.functions.find(({ name, arn }) => name === FunctionName || arn === FunctionName);
    return { ...DEFAULTS, ...properties, UUID: uuid, FunctionArn: target?.arn, State: 'Enabled' };
  };
  const create = (properties: JsonObject) => {
    const { EventSourceArn } = properties;
    const on = specs.tables.flatMap(({ name }) => streams.streamOf(name)?.arn ?? []);
    if (!on.some((arn) => arn === EventSourceArn)) throw invalid(`Stream not found: ${EventSourceArn}`);
    const uuid = randomUUID();
    const mapping = readRequest({ ...properties }, uuid, specs, on);
    const [problem] = mappingProblems(mapping, iam);
    if (problem !== undefined) throw invalid(problem);
    const same = [...known].find(
      ([id, other]) => other.EventSourceArn === EventSourceArn && shown(id, other).FunctionArn === mapping.functionArn,
    );
    if (same !== undefined) {
      const message = `The event source arn and function provided mapping already exists: update or delete ${same[0]}`;
      throw new AwsError('ResourceConflictException', message, 409);
    }
    known.set(uuid, properties);
    streams.addConsumer(mapping);
    onCreated(mapping);
    return shown(uuid, properties);
  };

  /** Undefined for a path of another part of Lambda. */
  return (request: HttpRequest): HttpResponse | undefined => {
    const path = request.path.replace(/\?.*$/, '');
    const found = PATH.exec(path);
    if (!found) return undefined;
    const [, uuid = ''] = found;
    try {
      if (request.method === 'POST' && uuid === '') {
        return response(202, JSON.stringify(create(parsedObject(request.body.toString()) ?? {})));
      }
      if (request.method !== 'GET' || uuid === '') {
        throw new AwsError('UnknownOperationException', `${request.method} ${path} is not part of this Lambda.`, 404);
      }
      const properties = known.get(uuid);
      if (properties === undefined) {
        throw new AwsError('ResourceNotFoundException', 'The resource you requested does not exist.', 404);
      }
      return response(200, JSON.stringify(shown(uuid, properties)));
    } catch (error) {
      return errorResponse(error);
    }
  };
}

function readRequest(properties: JsonObject, uuid: string, specs: Specs, streams: readonly string[]) {
  const request = { type: MAPPING, logicalId: uuid, properties, where: '(a request)' };
  try {
    return readMapping(request as Resource, specs, streams);
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

const invalid = (message: string) => new AwsError('InvalidParameterValueException', message);
