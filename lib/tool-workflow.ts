import { readFileSync } from 'node:fs';
import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';

/** Surely not executed: safe to try again even for a tool with side effects. */
const NOT_EXECUTED = ['Lambda.TooManyRequestsException'];
/** May have executed: tried again only when the tool says that does no harm. */
const TRANSIENT = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.LambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
];

export interface ToolWorkflowProps {
  readonly machineName: string;
  readonly handler: IFunction;
  readonly table: TableV2;
  /** In seconds. */
  readonly timeout: number;
  /** Whether a run that may have happened can be repeated. */
  readonly repeatable: boolean;
}

/**
 * The state machine of one tool (design section 5): its role may invoke one function and update one table, and its
 * metrics are the tool's. The definition is data: `workflow/tool.asl.json` and the expressions beside it.
 */
export class ToolWorkflow extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: ToolWorkflowProps) {
    super(scope, id);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
      inlinePolicies: {
        RunAndFinish: new PolicyDocument({
          statements: [
            new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [props.handler.functionArn] }),
            new PolicyStatement({ actions: ['dynamodb:UpdateItem'], resources: [props.table.tableArn] }),
          ],
        }),
      },
    });
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineName: props.machineName,
      role,
      definitionBody: DefinitionBody.fromString(definition(props.repeatable)),
      definitionSubstitutions: {
        FunctionArn: props.handler.functionArn,
        TableName: props.table.tableName,
        ToolTimeoutSeconds: String(props.timeout),
      },
      tracingEnabled: true,
      logs: {
        level: LogLevel.ALL,
        includeExecutionData: false,
        destination: new LogGroup(this, 'Logs', {
          logGroupName: `/aws/vendedlogs/states/${props.machineName}`,
          retention: RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      },
    });
  }
}

/** ARNs by name, so that the endpoint's policy needs no reference to each machine. */
export function machineArn(scope: Construct, name: string): string {
  return Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: name,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

/** The very text that AWS and the embedded cloud run. */
export function definition(repeatable: boolean): string {
  const asl: unknown = JSON.parse(workflowFile('tool.asl.json'), (_key, value: unknown) => {
    if (Array.isArray(value) && value[0] === '<retryable errors>') {
      return repeatable ? [...NOT_EXECUTED, ...TRANSIENT] : NOT_EXECUTED;
    }
    return typeof value === 'string' ? include(value) : value;
  });
  return JSON.stringify(asl);
}

/** Replaces `<name.jsonata>` by that file's expression, without its comments. */
export function include(text: string): string {
  return text.replace(/<([a-z-]+\.jsonata)>/g, (_match, file: string) =>
    include(
      workflowFile(file)
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/\s*\n\s*/g, ' ')
        .trim(),
    ),
  );
}

function workflowFile(name: string): string {
  return readFileSync(new URL(`./workflow/${name}`, import.meta.url), 'utf8');
}
