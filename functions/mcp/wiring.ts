import { bounded } from './bounded-validation.ts';
import type { Tool } from './context.ts';
import type { Manifest, ToolEntry, Validators } from './manifest.ts';

/** The function of a forbidden tool. Throws, by the tool's name, if the environment does not list it. */
export const functionOf = (tool: ToolEntry, functions: readonly string[]): string =>
  part(tool, tool.function === undefined ? undefined : functions[tool.function], 'function in TOOL_FUNCTIONS');

/**
 * The tools by name. Throws, by the tool's name, if manifest, validators and environment do not fit together.
 *
 * @param functions names of the functions of forbidden tools, as in TOOL_FUNCTIONS
 * @param stateMachines names of the machines that are tools, as in TOOL_MACHINES
 */
export function wiredTools(
  { tools }: Manifest,
  validators: Validators,
  functions: readonly string[],
  stateMachines: readonly string[],
): ReadonlyMap<string, Tool> {
  const wired = tools.map((entry, i) => {
    const { name, taskSupport, outputSchema, stateMachine } = entry;
    if (taskSupport === 'forbidden') functionOf(entry, functions);
    else part(entry, entry.engine, 'engine in the manifest');
    if (stateMachine !== undefined) part(entry, stateMachines[stateMachine], 'state machine in TOOL_MACHINES');
    const input = part(entry, validators.inputs[i], 'validator of arguments');
    const output = outputSchema && part(entry, validators.outputs[i], 'validator of results');
    const tool = {
      entry,
      validate: bounded(input, `arguments of ${name}`),
      validateOutput: output && bounded(output, `a result of ${name}`),
    };
    return [name, tool] as const;
  });
  return new Map(wired);
}

function part<T>({ name }: ToolEntry, value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`Tool '${name}' has no ${what}`);
  return value;
}
