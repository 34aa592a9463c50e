import { InvalidParams, MissingClientCapability, NotSupportedByTool } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { isObject } from '../jsonrpc.ts';
import type { Validator } from '../manifest.ts';
import { checkParamHeaders } from '../param-headers.ts';
import type { Call, Method, Server, Tool } from '../server.ts';
import { TASKS_EXTENSION } from '../versions.ts';
import { errorResult } from '../wire/tool-result.ts';
import { callDirectly, callInline, createRefusedTask, createTask } from './delivery.ts';

/** Both eras: who gets a task and who a plain result (design section 7, F-10). */
export const toolsCall: Method = async (call, server) => {
  const tool = findTool(call, server);
  const wantsTask = requestedTask(call, tool);
  const args = toolArguments(call);
  if (call.wire.era === 'modern') checkParamHeaders(tool.entry.headers ?? [], args.value, call.request);
  if (!tool.validate(args.value)) {
    const refused = errorResult(`Invalid arguments for tool ${tool.entry.name}: ${describe(tool.validate)}`);
    if (wantsTask && call.wire.era === 'legacy') return createRefusedTask(call, server, tool.entry, refused);
    return call.wire.toolResult(refused);
  }
  if (tool.entry.taskSupport === 'forbidden') return callDirectly(call, server, tool.entry, args);
  return wantsTask ? createTask(call, server, tool.entry, args.text) : callInline(call, server, tool.entry, args.text);
};

function findTool({ params }: Call, server: Server): Tool {
  if (typeof params.name !== 'string') throw new InvalidParams('name must be a string');
  const tool = server.tools.get(params.name);
  if (tool === undefined) throw new InvalidParams(`Unknown tool: ${params.name.slice(0, 128)}`);
  return tool;
}

/** Whether the caller opted in, refusing what the tool cannot do (C-03 to C-06, E-03, E-04, E-23). */
function requestedTask({ wire, tasks, params }: Call, { entry }: Tool): boolean {
  const asked = tasks && (wire.era === 'modern' || params.task !== undefined);
  if (asked && wire.era === 'legacy') {
    if (!isObject(params.task)) throw new InvalidParams('task must be an object');
    if (entry.taskSupport === 'forbidden') throw new NotSupportedByTool(`Tool ${entry.name} cannot run as a task`);
  }
  if (!asked && entry.taskSupport === 'required') {
    if (wire.era === 'modern') throw new MissingClientCapability({ extensions: { [TASKS_EXTENSION]: {} } });
    throw new NotSupportedByTool(`Tool ${entry.name} only runs as a task: send params.task`);
  }
  return asked;
}

function toolArguments({ params }: Call) {
  const value = params.arguments ?? {};
  if (!isObject(value)) throw new InvalidParams('arguments must be an object');
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > limits.arguments) {
    throw new InvalidParams(`arguments may take ${limits.arguments} bytes at most`);
  }
  return { value, text };
}

/** readable for the model, so that it can mend its call. */
function describe({ errors }: Validator): string {
  return (errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) => {
      const extra = params !== undefined && 'additionalProperty' in params ? ` ('${params.additionalProperty}')` : '';
      return `${instancePath === '' ? 'arguments' : instancePath.slice(1).replaceAll('/', '.')} ${message ?? 'is not valid'}${extra}`;
    })
    .join('; ')
    .slice(0, 1_000);
}
