import { bounded } from './bounded-validation.ts';
import type { Tool } from './context.ts';
import type { Manifest, ToolEntry, Validators } from './manifest.ts';

/** The function of a forbidden tool. Throws, by the tool's name, if the environment does not list it. */
export function functionOf(tool: ToolEntry, functions: readonly string[]): string {
  return entryOf(tool, 'function', tool.function, functions, 'TOOL_FUNCTIONS');
}

/** The end of the name of a task-capable tool's workflow. Throws, by the tool's name, if the manifest has none. */
export function workflowOf({ name, machine }: ToolEntry): string {
  if (machine === undefined) throw new Error(`Tool '${name}' has no workflow in the manifest`);
  return machine;
}

/**
 * The tools by name. Throws, by the tool's name, if the manifest, the validators and the environment do not fit
 * together.
 *
 * @param functions those of forbidden tools, as in TOOL_FUNCTIONS
 * @param stateMachines those that are tools, as in TOOL_MACHINES
 */
export function wiredTools(
  { tools }: Manifest,
  validators: Validators,
  functions: readonly string[],
  stateMachines: readonly string[],
): ReadonlyMap<string, Tool> {
  const wired = tools.map((entry, i) => {
    const { name, taskSupport, outputSchema, stateMachine } = entry;
    const validate = validators.inputs[i];
    const validateOutput = validators.outputs[i];
    if (validate === undefined) throw new Error(`Tool '${name}' has no validator of its arguments`);
    if (outputSchema !== undefined && validateOutput === undefined) {
      throw new Error(`Tool '${name}' has an outputSchema, but no validator of its results`);
    }
    if (taskSupport === 'forbidden') functionOf(entry, functions);
    else workflowOf(entry);
    if (stateMachine !== undefined) entryOf(entry, 'stateMachine', stateMachine, stateMachines, 'TOOL_MACHINES');
    const tool = {
      entry,
      validate: bounded(validate, `arguments of ${name}`),
      validateOutput: validateOutput && bounded(validateOutput, `a result of ${name}`),
    };
    return [name, tool] as const;
  });
  return new Map(wired);
}

function entryOf(
  { name }: ToolEntry,
  field: string,
  index: number | undefined,
  values: readonly string[],
  from: string,
): string {
  const value = index === undefined ? undefined : values[index];
  if (value === undefined || value === '') {
    const problem = index === undefined ? `the manifest has no ${field}` : `${from} has no entry ${index}`;
    throw new Error(`Tool '${name}': ${problem}`);
  }
  return value;
}
