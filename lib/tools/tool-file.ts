import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import type { Construct } from 'constructs';
import type { ToolRegistration } from '../../functions/tool/schema.ts';
import { builtCode } from './tool-bundling.ts';
import { sourceIn, ToolFunction, type ToolFunctionProps } from './tool-function.ts';
import type { FunctionToolProps } from './tool-props.ts';

/** The options of a tool that is a file with `defineTool`: of its function, and in `tool` of `addTool`. */
export interface ToolFileProps extends Omit<ToolFunctionProps, 'entry' | 'code'> {
  /**
   * The options of `addTool` that the definition in the file does not say. The `timeout` there is how long a task may take, in
   * all runs together; the one beside `tool` is how long one run may take. @default the defaults of `addTool`
   * @example { timeout: Duration.hours(1), expectedDuration: Duration.minutes(2) }
   */
  readonly tool?: Omit<FunctionToolProps, 'handler' | 'stateMachine' | keyof ToolRegistration>;
}

/** A file that `addToolFile` cannot make a tool of. */
export class ToolFileError extends Error {
  constructor(tool: string, file: string, problem: string, cause?: unknown) {
    super(`Tool '${tool}': ${file} ${problem}`, { cause });
    this.name = 'ToolFileError';
  }
}

/**
 * Makes the function `Function` of a file in `scope`, and reads the definition of its tool: runs the code that is deployed up to
 * its export, so the file loads as it does in Lambda, whatever runs the app. Throws `ToolFileError`.
 */
export function toolOfFile(scope: Construct, name: string, file: string, { tool, ...props }: ToolFileProps) {
  if (!existsSync(file)) throw new ToolFileError(name, file, `is not there: paths begin in ${process.cwd()}`);
  const { handler: exported = 'handler' } = props;
  const made = attempt(
    () => {
      const handler = new ToolFunction(scope, 'Function', { ...props, entry: file });
      return { handler, code: builtCode(sourceIn(handler)) };
    },
    (problem, cause) => new ToolFileError(name, file, `cannot be built: ${problem}`, cause),
  );
  const { [exported.split('.').at(-1) ?? '']: found } = attempt(
    () => exportsOf(made.code, resolve(file)),
    (problem, cause) => new ToolFileError(name, file, `throws when it is loaded: ${problem}`, cause),
  );
  if (typeof found !== 'function' || !('definition' in found)) {
    const remedy = `export const ${exported} = defineTool(…), or describe the tool in the app: server.addTool(…)`;
    throw new ToolFileError(name, file, `has no export '${exported}' that defineTool made: ${remedy}`);
  }
  const definition = attempt(
    () => JSON.parse(JSON.stringify(found.definition)) as ToolRegistration,
    (problem, cause) => new ToolFileError(name, file, `has a definition that cannot be written: ${problem}`, cause),
  );
  return { ...definition, ...tool, handler: made.handler };
}

/** Runs CommonJS code in this process, and returns its exports. */
function exportsOf(code: string, file: string): Record<string, unknown> {
  const module = { exports: {} };
  const run = compileFunction(code, ['exports', 'require', 'module'], { filename: `${file} (built)` });
  run(module.exports, createRequire(file), module);
  return module.exports;
}

function attempt<T>(work: () => T, failed: (problem: string, cause: unknown) => Error): T {
  try {
    return work();
  } catch (error) {
    // Other names say something.
    throw failed(String(error).replace(/^Error: /, ''), error);
  }
}
