/** The used part of a Babel path: Stryker has no type for it. */
interface Path {
  readonly node: { readonly type: string };
  readonly parent: { readonly type: string; readonly callee?: { readonly name?: string } };
}

const TEXTS = ['StringLiteral', 'TemplateLiteral'];

/**
 * Leaves out the text of a plain `new Error('…')` and the place that `logUnexpected(error, '…')` names. Only operators
 * read them, in a log; a client gets a fixed sentence. The texts of the errors that a client sees are classes of
 * functions/tasks/errors.ts and stay in.
 */
function shouldIgnore({ node, parent }: Path): string | undefined {
  const callee = parent?.callee?.name;
  const forOperators =
    (parent?.type === 'NewExpression' && callee === 'Error') ||
    (parent?.type === 'CallExpression' && callee === 'logUnexpected');
  return TEXTS.includes(node.type) && forOperators ? 'a text for operators' : undefined;
}

/** The name by which Stryker finds it. */
export const strykerPlugins = [{ kind: 'Ignore', name: 'internal-texts', value: { shouldIgnore } }];
