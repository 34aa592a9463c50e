import { Annotations, Stack } from 'aws-cdk-lib';
import { CfnStateMachine, type IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { isRepeatable, type ToolEntry } from '../../functions/mcp/manifest.ts';

/**
 * The errors of Lambda after which a function may have run. `LambdaInvoke` of CDK retries them unless its props say
 * `retryOnServiceExceptions: false` (aws-cdk-lib, `aws-stepfunctions-tasks/lib/lambda/invoke`).
 */
const MAY_HAVE_RUN = ['Lambda.ClientExecutionTimeoutException', 'Lambda.ServiceException', 'Lambda.SdkClientException'];

/** Warns of a machine whose states repeat a call that may have run, for a tool that may not run twice. */
export function warnOfRetries(scope: Construct, entry: ToolEntry, stateMachine: IStateMachine): void {
  if (isRepeatable(entry)) return;
  const states = retryingStates(definitionOf(stateMachine));
  if (states.length === 0) return;
  Annotations.of(scope).addWarningV2(
    'mcp-task-server:machine-retries',
    `Tool '${entry.name}': the state ${states.map((name) => `'${name}'`).join(', ')} of its machine calls a function again when ` +
      'Lambda fails and the first call may have run. Set retryOnServiceExceptions: false of LambdaInvoke, or readOnlyHint or ' +
      'idempotentHint in the annotations of the tool if a second run does no harm',
  );
}

/** The definition in the template; undefined for one in a file, or of another app. */
function definitionOf(stateMachine: IStateMachine): unknown {
  const resource = stateMachine.node.defaultChild;
  if (!(resource instanceof CfnStateMachine)) return undefined;
  const text: unknown = Stack.of(stateMachine).resolve(resource.definitionString);
  // An ARN in it is a reference: the parts between are the text.
  const parts =
    typeof text === 'string' ? [text] : ((text as { 'Fn::Join'?: [string, unknown[]] })?.['Fn::Join']?.[1] ?? []);
  try {
    return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'reference')).join(''));
  } catch {
    return undefined;
  }
}

/** The names of the states that retry these errors, in all flows of a definition. */
function retryingStates(value: unknown, name = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { Retry } = value as { readonly Retry?: readonly { readonly ErrorEquals?: readonly string[] }[] };
  const retries =
    Array.isArray(Retry) && Retry.some(({ ErrorEquals: errors }) => MAY_HAVE_RUN.some((one) => errors?.includes(one)));
  return [...(retries ? [name] : []), ...Object.entries(value).flatMap(([key, inner]) => retryingStates(inner, key))];
}
