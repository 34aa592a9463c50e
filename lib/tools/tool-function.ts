import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LoggingFormat } from 'aws-cdk-lib/aws-lambda';
import {
  type BundlingOptions,
  NodejsFunction,
  type NodejsFunctionProps,
  OutputFormat,
} from 'aws-cdk-lib/aws-lambda-nodejs';
import { Construct } from 'constructs';
import { acknowledgeToolFunction } from '../nag.ts';
import { NODE_ON_ARM, roleOf, WRITE_LOGS } from '../server-function.ts';
import { logs } from '../storage/log-group.ts';
import { addSource, codeOf, isBuiltHere, isDev, placeholderCode, sourceOf, type ToolSource } from './tool-bundling.ts';

export interface ToolFunctionProps extends NodejsFunctionProps {
  /** The file of the handler, as a path from the folder in which the app runs. @example 'functions/split-bill.ts' */
  readonly entry: string;
}

/** The source of a function, and its code if that is built. */
export let sourceIn: (handler: ToolFunction) => ToolSource;

/**
 * A NodejsFunction, bundled as this project bundles its functions (docs/architecture/requests.md, "Cold start"): Node 24 on
 * arm64, one CommonJS file with the AWS SDK in it, and a source map. The AWS clients that `defineTool` needs are separate
 * files: a run loads them at first use. By default it has a log group that keeps lines for a month, as JSON, and a role that
 * may write them and nothing else. A tool may also be any other Lambda function.
 *
 * @example
 * new ToolFunction(stack, 'SplitBill', { entry: 'functions/split-bill.ts', timeout: Duration.seconds(30) });
 */
export class ToolFunction extends NodejsFunction {
  readonly #source: ToolSource;

  static {
    sourceIn = (handler) => handler.#source;
  }

  constructor(scope: Construct, id: string, props: ToolFunctionProps) {
    if (props.timeout !== undefined && props.timeout.toSeconds() > 900) {
      throw new Error(`ToolFunction '${id}': a Lambda function runs 15 minutes at most`);
    }
    const parts = new Construct(scope, `${id}Parts`);
    const logGroup = props.logGroup ?? logs(parts);
    // A function in a VPC needs more rights: CDK makes its role.
    const own = props.role === undefined && props.vpc === undefined;
    const role = own ? roleOf('lambda', parts, 'Role') : undefined;
    const bundling: BundlingOptions = {
      format: OutputFormat.CJS,
      minify: true,
      target: 'node24',
      mainFields: ['module', 'main'],
      bundleAwsSDK: true,
      // Stacks name the tool's own files and lines. The map leaves out their text, which the author has.
      sourceMap: true,
      sourcesContent: false,
      ...props.bundling,
      esbuildArgs: { '--supported:dynamic-import': 'false', ...props.bundling?.esbuildArgs },
    };
    const source = sourceOf(props.entry, bundling);
    const builtHere = props.code === undefined && isBuiltHere(bundling);
    const dev = isDev(scope);
    const { handler = 'handler' } = props;
    const mapped = props.code === undefined && bundling.sourceMap === true;
    super(scope, id, {
      ...NODE_ON_ARM,
      memorySize: 1024,
      // Each line is an object, to which `defineTool` adds the ids of the task.
      ...(props.logFormat === undefined && { loggingFormat: LoggingFormat.JSON }),
      ...props,
      ...(mapped && { environment: { NODE_OPTIONS: '--enable-source-maps', ...props.environment } }),
      logGroup,
      ...(role && { role }),
      bundling,
      ...(builtHere && {
        code: dev ? placeholderCode(source) : codeOf(source, bundling),
        handler: handler.includes('.') ? handler : `index.${handler}`,
      }),
    });
    this.#source = source;
    if (builtHere && dev) addSource(this, source);
    acknowledgeToolFunction(this);
    if (!own) return;
    const resources = [logGroup.logGroupRef.logGroupArn];
    this.addToRolePolicy(new PolicyStatement({ actions: [...WRITE_LOGS], resources }));
  }
}
