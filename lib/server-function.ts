import type { Duration } from 'aws-cdk-lib';
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type Code,
  type FunctionOptions,
  type IFunction,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { type Construct, Dependable } from 'constructs';
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
    role: roleOf('lambda', scope, roleId),
    ...props,
  });
  allow(handler, WRITE_LOGS, logGroup.logGroupArn);
  return handler;
}

/** Makes a role of an AWS service, as `waitForPolicies` leaves it. */
export function roleOf(service: 'lambda' | 'states', scope: Construct, id: string): Role {
  const role = new Role(scope, id, { assumedBy: new ServicePrincipal(`${service}.amazonaws.com`) });
  waitForPolicies(role);
  return role;
}

/**
 * CDK makes a function or state machine depend on its role and on the policies of the role. The reference to the role is a
 * dependency already, which cfn-lint reports (W3005), so the policies are left.
 */
export function waitForPolicies(role: IRole): void {
  Dependable.implement(role, {
    get dependencyRoots() {
      return role.node.children.filter((part) => part !== role.node.defaultChild);
    },
  });
}

/** Gives the role of a function these actions on one resource. */
export function allow(handler: IFunction, actions: readonly string[], resource: string): void {
  handler.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [resource] }));
}
