/** What an operator can mend: the message says how. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** The credentials of the operator lack a right. */
export class NotAllowed extends OperatorError {
  constructor(what: string, policy: 'read' | 'act' | 'payload', action: string) {
    super(`${what}: your credentials may not ${action}. The ${policy} policy of the server allows it`);
  }
}
