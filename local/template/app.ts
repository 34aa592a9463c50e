import { readAssembly } from './assembly.ts';
import { reachedByServer } from './lenient.ts';
import { resolveStack } from './resources.ts';
import { readSpecs } from './specs.ts';

/** What is run of an assembly, and how. */
export interface AppOptions {
  /**
   * Runs only what an McpTaskServer of the app reaches, and leaves everything else alone. Otherwise the cloud refuses
   * an assembly with a resource that it does not know. @default false
   */
  readonly lenient?: boolean;
  /** More variables for every function; its own win. @default none */
  readonly variables?: Readonly<Record<string, string>>;
  /** Folders of code in place of those of the assembly, by the logical id of the function. @default none */
  readonly code?: ReadonlyMap<string, string>;
  /** The stack whose server runs, if `lenient` and more than one stack has one. */
  readonly stack?: string;
}

/** What runs of an assembly. */
export function readApp(assembly: string, { lenient = false, stack, code, variables }: AppOptions) {
  const read = readAssembly(assembly);
  const reached = lenient ? reachedByServer(read, stack) : { stacks: read, leftAlone: new Map<string, number>() };
  const stacks = reached.stacks.map(resolveStack);
  const specs = readSpecs(stacks, lenient);
  const functions = specs.functions.map((spec) => ({
    ...spec,
    codePath: code?.get(spec.logicalId) ?? spec.codePath,
    environment: { ...variables, ...spec.environment },
  }));
  return { stacks, functions, specs: { ...specs, functions }, leftAlone: reached.leftAlone };
}
