import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, type NodejsFunctionProps, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { acknowledgeFunctionRole } from './nag.ts';

/**
 * A NodejsFunction as this project bundles its own (design section 12): Node 24 on arm64, one CommonJS file with the
 * AWS SDK in it, `.gz` files as bytes. A tool may just as well be any other Lambda function.
 *
 * @example
 * new ToolFunction(stack, 'CountWords', { entry: 'functions/examples/count-words.ts', timeout: Duration.seconds(30) });
 */
export class ToolFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, props: NodejsFunctionProps & { readonly entry: string }) {
    if (props.timeout !== undefined && props.timeout.toSeconds() > 900) {
      throw new Error(`ToolFunction '${id}': a Lambda function runs 15 minutes at most`);
    }
    super(scope, id, {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 1024,
      ...props,
      bundling: {
        format: OutputFormat.CJS,
        minify: true,
        target: 'node24',
        mainFields: ['module', 'main'],
        bundleAwsSDK: true,
        loader: { '.gz': 'binary' },
        ...props.bundling,
        esbuildArgs: { '--supported:dynamic-import': 'false', ...props.bundling?.esbuildArgs },
      },
    });
    if (props.role === undefined) acknowledgeFunctionRole(this);
  }
}
