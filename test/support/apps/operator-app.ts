import { Stack } from 'aws-cdk-lib';
import { AccountPrincipal, type ManagedPolicy, Role } from 'aws-cdk-lib/aws-iam';
import { handler, server } from './app.ts';

/** The test app with one role for each set of rights that an operator may have. */
const stack = Stack.of(server);
const { read, act, payload } = server.operatorPolicies;

function operator(id: string, ...managedPolicies: ManagedPolicy[]): void {
  const role = new Role(stack, id, { assumedBy: new AccountPrincipal(stack.account), managedPolicies });
  stack.renameLogicalId(stack.getLogicalId(role.node.defaultChild as never), id);
}
server.addTool('keeps', {
  ...{ handler, description: 'Keeps its arguments', inputSchema: { type: 'object' }, taskSupport: 'optional' },
  keepArguments: true,
});
operator('Reader', read);
operator('Actor', read, act);
operator('Auditor', read, payload);
operator('Everything', read, act, payload);
