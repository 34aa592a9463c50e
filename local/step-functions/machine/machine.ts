import { createHash } from 'node:crypto';
import { MOST_SECONDS, openFields } from '../definition/fields.ts';
import type { Flow } from '../flow.ts';
import { type Place, refuse } from '../place.ts';
import type { StateMachineSpec } from '../types.ts';
import { expressResources, expressTimeout, isExpress } from './express.ts';
import { loadFlow, readQueryLanguage } from './flow.ts';

export interface Machine {
  /** The hash of the spec: identifies the machine in this process and in the next one. */
  id: string;
  spec: StateMachineSpec;
  flow: Flow;
  /** The timeout of the whole execution; no Catch matches it. */
  timeoutSeconds: number | undefined;
  /** Executions are `<prefix><name>`. */
  executionPrefix: string;
}

const MACHINE_ARN = /^(arn:aws[a-z-]*:states:[^:]+:\d{12}:)stateMachine:([^:]+)$/;

/** Compiles a machine. Throws a DefinitionError that names the first thing this engine does not know. */
export function loadMachine(spec: StateMachineSpec, resources: ReadonlySet<string>): Machine {
  const place: Place = { machine: spec.name };
  const fields = openFields(parseDefinition(spec, place), place);
  const language = readQueryLanguage(fields) ?? 'JSONPath';
  const version = fields.take('Version');
  if (version !== undefined && version !== '1.0') refuse(fields.at('Version'), `must be '1.0'`);
  const timeout = fields.number('TimeoutSeconds', { least: 1, most: MOST_SECONDS });
  const express = isExpress(spec);
  const timeoutSeconds = express ? expressTimeout(timeout) : timeout;
  // Integrations are named in the partition of the machine.
  const [, partition] = spec.arn.split(':');
  const named = [...(express ? expressResources(resources) : resources)];
  const known = new Set(named.map((resource) => resource.replace(/^arn:aws:/, `arn:${partition}:`)));
  const flow = loadFlow(fields, { resources: known, language, names: new Set() }, new Set());
  return { id: machineId(spec), spec, flow, timeoutSeconds, executionPrefix: executionPrefix(spec, place) };
}

function parseDefinition(spec: StateMachineSpec, place: Place): unknown {
  try {
    return JSON.parse(spec.definition);
  } catch (thrown) {
    return refuse(place, `the definition is not JSON: ${(thrown as Error).message}`);
  }
}

function executionPrefix(spec: StateMachineSpec, place: Place): string {
  const [, account, name] = MACHINE_ARN.exec(spec.arn) ?? [];
  if (account === undefined || name === undefined)
    return refuse(place, `'${spec.arn}' is not the ARN of a state machine`);
  return `${account}execution:${name}:`;
}

function machineId({ arn, name, roleArn, definition, type }: StateMachineSpec): string {
  return createHash('sha256')
    .update(JSON.stringify([arn, name, roleArn, definition, ...(type === undefined ? [] : [type])]))
    .digest('hex')
    .slice(0, 32);
}
