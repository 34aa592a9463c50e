import { readAssembly, type Stack } from './assembly.ts';
import { reachedByServer } from './lenient.ts';
import { type ResolvedStack, ResourceError, resolveStack } from './resources.ts';
import { readSpecs, type Specs } from './specs.ts';

/** Options that say which part of an assembly runs, and how. */
export interface AppOptions {
  /**
   * Runs only what an McpTaskServer of the app reaches, and leaves everything else alone. Otherwise the cloud refuses
   * an assembly with a resource that it does not know. @default false
   */
  readonly lenient?: boolean;
  /** More variables for every function; its own win. @default none */
  readonly variables?: Readonly<Record<string, string>>;
  /** Folders of code that replace the assembly's, by the logical id of the function. @default none */
  readonly code?: ReadonlyMap<string, string>;
  /** The stack whose server runs, if `lenient` and more than one stack has one. */
  readonly stack?: string;
}

export interface AppSpecs {
  readonly stacks: readonly ResolvedStack[];
  readonly specs: Specs;
  /** How many resources are left alone, by service. */
  readonly leftAlone: ReadonlyMap<string, number>;
  /** Why a tool cannot run here, by its name. */
  readonly refusedTools: ReadonlyMap<string, string>;
}

/** Throws a ResourceError for a resource that the engines do not know. */
export type CheckApp = (app: Pick<AppSpecs, 'stacks' | 'specs'>) => void;

/** @param check is called only if `lenient`: otherwise the engines refuse by themselves, at their start */
export function readApp(assembly: string, options: AppOptions, check: CheckApp): AppSpecs {
  const { lenient = false, code, variables } = options;
  const app = lenient ? readLenient(readAssembly(assembly), options, check) : readAll(readAssembly(assembly));
  const functions = app.specs.functions.map((spec) => ({
    ...spec,
    codePath: code?.get(spec.logicalId) ?? spec.codePath,
    environment: { ...variables, ...spec.environment },
  }));
  return { ...app, specs: { ...app.specs, functions } };
}

function readAll(read: readonly Stack[]): AppSpecs {
  const stacks = read.map(resolveStack);
  return { stacks, specs: readSpecs(stacks), leftAlone: new Map(), refusedTools: new Map() };
}

/** Reads again without each refused resource, until none is refused. Throws if the server itself needs one. */
function readLenient(read: readonly Stack[], { stack }: AppOptions, check: CheckApp): AppSpecs {
  const refused = new Map<string, string>();
  for (;;) {
    const reached = reachedByServer(read, stack, refused);
    try {
      const app = readAll(reached.stacks);
      check(app);
      const unmet = [...reached.unmet].filter(([id]) => !refused.has(id));
      if (unmet.length === 0) return { ...app, leftAlone: reached.leftAlone, refusedTools: reached.refusedTools };
      for (const [id, reason] of unmet) refused.set(id, reason);
    } catch (error) {
      if (!(error instanceof ResourceError) || refused.has(error.logicalId)) throw error;
      if (reached.isOfServer(error.logicalId)) throw error;
      refused.set(error.logicalId, error.message);
    }
  }
}
