import type { CfnResource } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';

/** Read by the embedded cloud; CloudFormation does nothing with the metadata of a resource. */
const MARK = 'mcp-task-server:sharedWorker';

/** Lets the embedded cloud run many events of a function at once in one worker. On AWS it changes nothing. */
export function shareWorker(handler: LambdaFunction): void {
  (handler.node.defaultChild as CfnResource).addMetadata(MARK, true);
}
