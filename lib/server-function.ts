import type { Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type Code,
  type FunctionOptions,
  type IFunction,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { logs, type StorageProps } from './storage/log-group.ts';

export const NODE_ON_ARM = { runtime: Runtime.NODEJS_24_X, architecture: Architecture.ARM_64 } as const;
export const WRITE_LOGS: readonly string[] = ['logs:CreateLogStream', 'logs:PutLogEvents'];

export interface ServerFunctionProps extends FunctionOptions {
  readonly description: string;
  readonly code: Code;
  /** The memory, in MB. */
  readonly memorySize: number;
  readonly timeout: Duration;
  /** The construct id of its role. @default 'Role' */
  readonly roleId?: string;
}

/** A function of the server itself, with its log group `Logs` in `scope`. Its role may write logs and nothing else. */
export function serverFunction(
  scope: Construct,
  id: string,
  { roleId = 'Role', ...props }: ServerFunctionProps,
  storage: StorageProps,
): IFunction {
  const logGroup = logs(scope, storage);
  const handler = new LambdaFunction(scope, id, {
    ...NODE_ON_ARM,
    handler: 'index.handler',
    logGroup,
    role: new Role(scope, roleId, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
    ...props,
  });
  allow(handler, WRITE_LOGS, logGroup.logGroupArn);
  return handler;
}

/** Gives the role of a function these actions on one resource. */
export function allow(handler: IFunction, actions: readonly string[], resource: string): void {
  handler.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [resource] }));
}
