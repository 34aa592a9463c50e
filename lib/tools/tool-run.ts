import { ArnFormat, Stack, Token, TokenComparison } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction, IVersion } from 'aws-cdk-lib/aws-lambda';
import { type IStateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';

/** What a tool workflow runs for a tool, and the rights that its role needs for that. */
export interface ToolRun {
  readonly arn: string;
  readonly statements: readonly PolicyStatement[];
}

/** One invocation of a function. */
export interface FunctionRun extends ToolRun {
  /** All versions and aliases of the function, if the tool is one of them. */
  readonly versionsArn?: string;
}

export function functionRun(handler: IFunction): FunctionRun {
  // Versions and aliases have this property. Runs that began before a deployment still invoke the last version.
  const { lambda } = handler as Partial<IVersion>;
  const versions = lambda && { versionsArn: `${lambda.functionArn}:*` };
  const resources = versions ? [lambda.functionArn, versions.versionsArn] : [handler.functionArn];
  return {
    arn: handler.functionArn,
    statements: [new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources })],
    ...versions,
  };
}

/** One execution of the author's state machine, with no function in between. */
export interface MachineRun extends ToolRun {
  readonly machineName: string;
  /** The ARN of all executions of the machine. */
  readonly executionsArn: string;
}

/** Makes the run of a state machine. Throws an error with the tool's name if a tool workflow cannot run the machine. */
export function machineRun(scope: Construct, tool: string, stateMachine: IStateMachine): MachineRun {
  const stack = Stack.of(scope);
  const problem = problemWith(stateMachine, stack);
  if (problem !== undefined) throw new Error(`Tool '${tool}': ${problem}`);
  const { stateMachineArn } = stateMachine;
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
  const machineName = stack.splitArn(stateMachineArn, arnFormat).resourceName ?? '';
  const executions = { service: 'states', resource: 'execution', resourceName: `${machineName}:`, arnFormat };
  const executionsArn = `${stack.formatArn(executions)}*`;
  return {
    arn: stateMachineArn,
    statements: [
      new PolicyStatement({ actions: ['states:StartExecution'], resources: [stateMachineArn] }),
      new PolicyStatement({
        actions: ['states:DescribeExecution', 'states:StopExecution'],
        resources: [executionsArn],
      }),
    ],
    machineName,
    executionsArn,
  };
}

function problemWith(stateMachine: IStateMachine, { account, region }: Stack): string | undefined {
  // Only a machine of this app has a known type.
  const { stateMachineType } = stateMachine as { stateMachineType?: StateMachineType };
  if (stateMachineType === StateMachineType.EXPRESS) {
    return 'an express state machine can be neither stopped nor inspected: make it a standard one';
  }
  const differs = (a: string, b: string) => Token.compareStrings(a, b) === TokenComparison.DIFFERENT;
  const { env } = stateMachine;
  if (!differs(env.account, account) && !differs(env.region, region)) return undefined;
  return 'the state machine must be in the account and region of the server';
}
