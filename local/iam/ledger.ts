import type { Statement } from './statements.ts';

/** One action on one resource, as a policy of the template grants it. */
export interface Grant {
  /** The policy, and which statement of it. */
  readonly statement: string;
  readonly action: string;
  readonly resource: string;
}

/** Records which grants were used. */
export interface Ledger {
  use(statement: Statement, matched: { readonly action: string; readonly resource: string }): void;
  unused(): readonly Grant[];
}

export function openLedger(statements: readonly Statement[]): Ledger {
  const used = new Set<string>();
  const grants = statements
    .filter(({ allows }) => allows)
    .flatMap(({ name, actions, resources }) =>
      actions.flatMap((action) => resources.map((resource): Grant => ({ statement: name, action, resource }))),
    );
  const keyOf = ({ statement, action, resource }: Grant) => [statement, action, resource].join('\n');
  return {
    use: ({ name }, matched) => used.add(keyOf({ statement: name, ...matched })),
    unused: () => grants.filter((grant) => !used.has(keyOf(grant))),
  };
}
