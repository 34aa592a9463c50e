import { type AwsJson, awsJson } from './aws-json.ts';

export type StepFunctionsOptions = {
  readonly region: string;
  readonly requestTimeout: number;
  readonly attempts: number;
};

/** Step Functions: StartExecution, StopExecution, DescribeExecution, GetExecutionHistory. `requestTimeout` in ms. */
export function stepFunctions(options: StepFunctionsOptions, env: NodeJS.ProcessEnv): AwsJson {
  const endpoint = env.AWS_ENDPOINT_URL_SFN ?? env.AWS_ENDPOINT_URL;
  return awsJson({ service: 'states', target: 'AWSStepFunctions', version: '1.0', endpoint, ...options });
}
