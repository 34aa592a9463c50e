import type { Statement } from './statements.ts';

/** One action on one resource, as a policy of the template grants it. */
export interface Grant {
  /** The policy, and which statement of it. */
  readonly statement: string;
  readonly action: string;
  readonly resource: string;
}

export type Ledger = ReturnType<typeof openLedger>;

/** Records which grants were used. */
export function openLedger(statements: readonly Statement[]) {
  const used = new Set<string>();
  const grants = statements
    .filter(({ allows }) => allows)
    .flatMap(({ name, actions, resources }) =>
      actions.flatMap((action) => resources.map((resource): Grant => ({ statement: name, action, resource }))),
    );
  const keyOf = ({ statement, action, resource }: Grant) => [statement, action, resource].join('\n');
  return {
    use: ({ name }: Statement, matched: Omit<Grant, 'statement'>) => used.add(keyOf({ statement: name, ...matched })),
    /** The grants that no call has used yet, without the managed policies of AWS. */
    unused: (): readonly Grant[] => grants.filter((grant) => !used.has(keyOf(grant))),
  };
}
