import { describe, expect, test } from 'vitest';
import { functionResource } from '../fixture.ts';
import { allow, arnOf, machine, policy, role, start, task } from './stack.ts';

describe('the template is refused at start', () => {
  const refused = async (more: object) => {
    const started = await start(more).catch((error: unknown) => String(error));
    if (typeof started === 'string') return started;
    await started.stop();
    return undefined;
  };

  test.each<[string, object, string]>([
    [
      'for a policy of AWS that is not known here',
      { X: role('lambda', [], { ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] }) },
      'does not know the policy arn:aws:iam::aws:policy/AdministratorAccess (stack Test, X)',
    ],
    [
      'for a boundary',
      { X: role('lambda', [], { PermissionsBoundary: 'x' }) },
      'the property PermissionsBoundary of AWS::IAM::Role',
    ],
    [
      'for a condition that is not known here',
      { X: policy(['WorkerRole'], allow('a:B', '*', { Condition: { DateLessThan: { 'aws:CurrentTime': 'x' } } })) },
      'the condition operator DateLessThan (stack Test, X)',
    ],
    [
      'for a role that its service may not take',
      { X: functionResource('code', { Role: arnOf('ClerkRole') }) },
      'lambda.amazonaws.com may not assume the role arn:aws:iam::000000000000:role/Test-ClerkRole (stack Test, X)',
    ],
    [
      'for traces that the role may not write',
      { X: functionResource('code', { Role: arnOf('NoRightsRole'), TracingConfig: { Mode: 'Active' } }) },
      'Test-NoRightsRole may not xray:PutTraceSegments on *, for its TracingConfig (stack Test, X)',
    ],
    [
      'for a wait that would never end',
      { X: machine('ClerkRole', task('arn:aws:states:::states:startExecution.sync', {})) },
      'may not events:PutRule on arn:aws:events:us-east-1:000000000000:rule/StepFunctionsGetEventsForStepFunctionsExecutionRule',
    ],
  ])('%s', async (_title, more, message) => expect(await refused(more)).toContain(message));
});
