import type { Flow } from '../flow.ts';
import type { StatesMember } from '../jsonata/inspect.ts';
import { compileTemplate, type Template } from '../jsonata/template.ts';
import type { Fields } from './fields.ts';

/** The scope that all states of a machine share at load. */
export interface MachineScope {
  resources: ReadonlySet<string>;
  /** The language of the states that name none. */
  language: 'JSONata' | 'JSONPath';
  /** State names are unique across all flows of a machine. */
  names: Set<string>;
}

interface LoaderContext {
  machine: MachineScope;
  variables: ReadonlySet<string>;
  targets: Set<string>;
  /** Loads the flow inside this state: a branch or an item processor. Closes the fields. */
  flow(fields: Fields): Flow;
}

export type Loader = ReturnType<typeof createLoader>;

/** Makes the tools that the loader of one state gets. */
export function createLoader({ machine, variables, targets, flow }: LoaderContext) {
  return {
    resources: machine.resources,
    flow,
    /** Compiles the field, undefined if absent. `members` of `$states` may be used besides input and context. */
    template(fields: Fields, name: string, members: readonly StatesMember[] = []): Template | undefined {
      const source = fields.take(name);
      if (source === undefined) return undefined;
      return compileTemplate(source, fields.at(name), { variables, members: ['input', 'context', ...members] });
    },
    target(fields: Fields, name: string): string {
      const target = fields.text(name);
      targets.add(target);
      return target;
    },
  };
}
