import { createHash } from 'node:crypto';
import type { ToolEntry } from '../functions/mcp/manifest.ts';
import { limits } from '../functions/tasks/limits.ts';
import { paramHeaders } from './param-headers.ts';
import type { ToolProps } from './tool.ts';

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** What the endpoint will know of a tool. Throws with the tool's name and what to do (A-18, B-13). */
export function toolEntry(name: string, props: ToolProps, taken: readonly ToolEntry[]): ToolEntry {
  const refuse = (problem: string): never => {
    throw new Error(`Tool '${name}': ${problem}`);
  };
  if (!NAME.test(name)) refuse('a name is 1 to 64 characters of A-Z a-z 0-9 _ - .');
  if (taken.some((tool) => tool.name === name)) refuse('registered twice');
  if (props.description.trim() === '') refuse('give it a description: the model chooses tools by it');
  if (props.inputSchema.type !== 'object') refuse(`inputSchema.type must be 'object'`);
  const taskSupport = props.taskSupport ?? 'forbidden';
  const timeout = props.timeout?.toMilliseconds() ?? 900_000;
  if (timeout < 1_000) refuse('a timeout is at least 1 second');
  if (timeout > 900_000) refuse('a Lambda function runs 15 minutes at most: lower its timeout');
  const headers = paramHeaders(props.inputSchema, refuse);
  return {
    name,
    ...(props.title !== undefined && { title: props.title }),
    description: props.description,
    inputSchema: props.inputSchema,
    ...(props.outputSchema !== undefined && { outputSchema: props.outputSchema }),
    ...(props.annotations !== undefined && { annotations: props.annotations }),
    taskSupport,
    timeout,
    ...(props.pollInterval !== undefined && { pollInterval: props.pollInterval.toMilliseconds() }),
    ...(props.ttl !== undefined && { ttl: Math.max(props.ttl.toMilliseconds(), limits.ttl.min) }),
    ...(taskSupport !== 'forbidden' && { machine: machineSuffix(name) }),
    ...(headers.length > 0 && { headers }),
  };
}

/** A tool's name as the end of a state machine's name: at most 47 characters of A-Z a-z 0-9 _ -. */
function machineSuffix(name: string): string {
  const plain = name.replaceAll('.', '-');
  if (plain === name && name.length <= 47) return name;
  return `${plain.slice(0, 38)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}
