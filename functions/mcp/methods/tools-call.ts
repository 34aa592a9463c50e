import { InvalidParams, MissingClientCapability, NotSupportedByTool } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { answerProblem } from '../../tasks/questions/answer-problem.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Call, Method, ModernCall, ServerContext, Tool } from '../context.ts';
import { checkParamHeaders } from '../http/param-headers.ts';
import { isRepeatable, type Validator } from '../manifest.ts';
import { argumentsOf, canonicalJson, idempotencyKeyOf, inputResponsesOf } from '../protocol/call-params.ts';
import { TASKS_CAPABILITY } from '../protocol/capabilities.ts';
import { countLarge } from '../read/read.ts';
import { askDirectly, checkDeclared, isModernCall, openState } from '../stream/input-required.ts';
import { errorResult } from '../wire/tool-result.ts';
import { createRefusedTask, createTask, type FirstAnswers, startTask } from './create-task.ts';
import { callDirectly, deliver } from './delivery.ts';
import { callHelper, helperTools } from './helper-tools.ts';
import { answerTask } from './tasks-update.ts';

/** Both eras: decides between a task and a plain result (docs/architecture/requests.md, "Delivery"; F-10). */
export const toolsCall: Method = async (call, server) => {
  const { name } = call.params;
  if (typeof name !== 'string') throw new InvalidParams('name must be a string');
  const helper = server.manifest.helperTools ? helperTools.get(name) : undefined;
  if (helper !== undefined) return callHelper(helper, call, server);
  const tool = server.tools.get(name);
  if (tool === undefined) throw new InvalidParams(`Unknown tool: ${name.slice(0, 128)}`);

  const wantsTask = requestedTask(call, tool);
  const args = toolArguments(call);
  const marks = call.wire.paramHeaders ? tool.entry.headers : undefined;
  if (marks !== undefined) checkParamHeaders(marks, args.value, call.request);
  if (!tool.validate(args.value)) {
    const problem = `Invalid arguments for tool ${name}: ${describeErrors(tool.validate)}`;
    if (wantsTask && call.wire.taskByParam) return createRefusedTask(call, server, tool.entry, problem);
    return call.wire.toolResult(errorResult(problem));
  }
  const hasKey = idempotencyKeyOf(call) !== undefined;
  if (tool.entry.taskSupport === 'forbidden') {
    // No task is stored under the key, so a repeat would run the tool twice.
    if (hasKey && !isRepeatable(tool.entry)) {
      throw new InvalidParams(`Tool ${name} never runs as a task: it cannot be called under an idempotency key`);
    }
    return callDirectly(call, server, tool.entry, args.value);
  }
  // Calls under one key must send the same text to StartExecution: with another text, the name counts as taken.
  const text = hasKey ? canonicalJson(args.value) : args.text;
  if (isModernCall(call)) return callOrContinue(call, server, tool, text, wantsTask);
  if (wantsTask) return createTask(call, server, tool.entry, text);
  return deliver(call, await startTask(call, server, tool.entry, text), 'call', server);
};

/** Questions come before the task (E-10). A call without a task continues the task that its state names. */
async function callOrContinue(
  call: ModernCall,
  server: ServerContext,
  { entry }: Tool,
  args: string,
  wantsTask: boolean,
) {
  const state = await openState(call, server);
  if (state?.taskId !== undefined) {
    const answers = inputResponsesOf(call);
    const record = await answerTask(call.principal, state.taskId, answers, 'leave', server, { polled: true });
    await countLarge(call.principal, record, server);
    return deliver(call, record, 'call', server);
  }
  const first = entry.askFirst === undefined ? undefined : firstAnswers(call, entry.askFirst);
  if (first === 'missing') return askDirectly(call, entry.askFirst ?? {}, undefined, server);
  if (wantsTask) return createTask(call, server, entry, args, first);
  return deliver(call, await startTask(call, server, entry, args, first), 'call', server);
}

/** Wrong and missing answers are asked for again (D-25). Other keys are ignored. */
function firstAnswers(call: Call, questions: NonNullable<Tool['entry']['askFirst']>): FirstAnswers | 'missing' {
  checkDeclared(call, questions);
  const responses = inputResponsesOf(call);
  const answered = Object.entries(questions).filter(
    ([name, question]) => Object.hasOwn(responses, name) && answerProblem(question, responses[name]) === undefined,
  );
  if (answered.length < Object.keys(questions).length) return 'missing';
  return Object.fromEntries(answered.map(([name]) => [name, responses[name]]));
}

/** Whether the caller asked for a task. Throws if the tool cannot do that (C-03 to C-06, E-03, E-04, E-23). */
function requestedTask({ wire, tasks, params }: Call, { entry }: Tool): boolean {
  const asked = tasks && (!wire.taskByParam || params.task !== undefined);
  if (asked && wire.taskByParam) {
    if (!isObject(params.task)) throw new InvalidParams('task must be an object');
    if (entry.taskSupport === 'forbidden') throw new NotSupportedByTool(`Tool ${entry.name} cannot run as a task`);
  }
  if (!asked && entry.taskSupport === 'required') {
    const why = `Tool ${entry.name} only runs as a task`;
    if (!wire.taskByParam) throw new MissingClientCapability(why, TASKS_CAPABILITY);
    throw new NotSupportedByTool(`${why}: send params.task`);
  }
  return asked;
}

function toolArguments(call: Call) {
  const value = argumentsOf(call);
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > limits.arguments) {
    throw new InvalidParams(`arguments may take ${limits.arguments} bytes at most`);
  }
  return { value, text };
}

/** readable for the model, so that it can correct its call. */
function describeErrors({ errors }: Validator): string {
  return (errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) => {
      const extra = params !== undefined && 'additionalProperty' in params ? ` ('${params.additionalProperty}')` : '';
      const where = instancePath === '' ? 'arguments' : instancePath.slice(1).replaceAll('/', '.');
      return `${where} ${message ?? 'is not valid'}${extra}`;
    })
    .join('; ')
    .slice(0, 1_000);
}
