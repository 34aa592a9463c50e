import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/** A function whose code is in the template: nothing has to be bundled. */
export function inlineFunction(scope: Construct, id = 'F'): LambdaFunction {
  const code = Code.fromInline('exports.handler = async () => 1');
  return new LambdaFunction(scope, id, { runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code });
}
