import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import {
  CustomerManagedEncryptionConfiguration,
  DefinitionBody,
  LogLevel,
  StateMachine,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { keyStatements } from '../storage/kms-grants.ts';
import { logs, type StorageProps } from '../storage/log-group.ts';
import type { ToolRun } from './tool-run.ts';

export interface ToolWorkflowProps {
  readonly machineName: string;
  readonly run: ToolRun;
  readonly table: TableV2;
  readonly results: Bucket;
  /** Writes the ends whose results do not fit into a record. */
  readonly outcomes: IFunction;
  /** The timeout of the tool, in seconds. */
  readonly timeout: number;
  readonly storage: StorageProps;
}

/**
 * The state machine of one tool. Its role may run the tool and update one table, and its metrics are the metrics of the
 * tool. The definition is data: `lib/workflow/*.asl.json` and the expressions beside them.
 */
export class ToolWorkflow extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: ToolWorkflowProps) {
    super(scope, id);
    const { encryptionKey } = props.storage;
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
      inlinePolicies: {
        RunAndFinish: new PolicyDocument({
          statements: [
            ...props.run.statements,
            new PolicyStatement({ actions: ['dynamodb:UpdateItem'], resources: [props.table.tableArn] }),
            new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [props.outcomes.functionArn] }),
            ...keyStatements(this, encryptionKey, ['dynamodb']),
          ],
        }),
      },
    });
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineName: props.machineName,
      ...(props.run.type && { stateMachineType: props.run.type }),
      role,
      definitionBody: DefinitionBody.fromString(props.run.definition),
      definitionSubstitutions: {
        ...props.run.substitutions,
        TableName: props.table.tableName,
        ResultsBucket: props.results.bucketName,
        OutcomeFunctionArn: props.outcomes.functionArn,
        ToolTimeoutSeconds: String(props.timeout),
      },
      tracingEnabled: true,
      ...(encryptionKey && { encryptionConfiguration: new CustomerManagedEncryptionConfiguration(encryptionKey) }),
      logs: {
        level: LogLevel.ALL,
        includeExecutionData: false,
        destination: logs(this, props.storage, 'Logs', `/aws/vendedlogs/states/${props.machineName}`),
      },
    });
  }
}

/** Makes the ARN from the name, so the policy of the endpoint needs no reference to each machine. */
export function machineArn(scope: Construct, name: string): string {
  return Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: name,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
