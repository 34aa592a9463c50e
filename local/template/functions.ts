import { statSync } from 'node:fs';
import { numberOf, objectOf, stringOf } from '../json.ts';
import type { FunctionUrl } from '../lambda/function-urls.ts';
import type { AsynchronousSettings, FunctionSpec } from '../lambda/index.ts';
import { functionUrl } from './identity.ts';
import { about, isFifo, ofTypes, type ResolvedStack, type Resource, unknownValue } from './resources.ts';

export interface FunctionResource extends FunctionSpec {
  /** The access key with which the function calls AWS: it identifies the caller. */
  readonly logicalId: string;
  readonly roleArn: string;
  /** Whether it may invoke itself by way of a queue, again and again. @default false, as of Lambda */
  readonly allowsLoop?: boolean;
}

/** A function: its package, runtime, environment and settings. Throws for what does not run here. */
export function readFunction(resource: Resource, resolved: ResolvedStack): FunctionResource {
  const refusal = stringOf(objectOf(resolved.stack.template.Resources[resource.logicalId]?.Metadata)[REFUSAL]);
  if (refusal !== undefined) return refusedFunction(resource, refusal);
  const {
    Code,
    Handler,
    Runtime,
    Timeout,
    MemorySize,
    Environment,
    Role,
    PackageType = 'Zip',
    RecursiveLoop,
  } = resource.properties;
  const reservedConcurrency = numberOf(resource.properties.ReservedConcurrentExecutions);
  if (PackageType !== 'Zip') throw unknownValue(resource, 'PackageType', PackageType);
  if (!RUNTIME.test(String(Runtime))) throw unknownValue(resource, 'Runtime', Runtime);
  const key = String(objectOf(Code).S3Key);
  const codePath = resolved.stack.assets.get(key) ?? '';
  if (codePath === '' || !statSync(codePath).isDirectory()) throw unknownValue(resource, 'Code.S3Key', key);
  const variables = Object.entries(objectOf(objectOf(Environment).Variables));
  const environment = Object.fromEntries(variables.map(([name, value]) => [name, String(value)]));
  checkEnvironment(resource, environment);
  const { LogFormat: format = 'Text', ApplicationLogLevel } = objectOf(resource.properties.LoggingConfig);
  if (format !== 'Text' && format !== 'JSON') throw unknownValue(resource, 'LoggingConfig.LogFormat', format);
  const level = stringOf(ApplicationLogLevel);
  return {
    name: resource.name,
    arn: resource.arn ?? '',
    codePath,
    handler: String(Handler),
    runtime: String(Runtime),
    timeoutSeconds: numberOf(Timeout) ?? 3,
    memoryMb: numberOf(MemorySize) ?? 128,
    environment,
    logicalId: resource.logicalId,
    roleArn: String(Role),
    allowsLoop: RecursiveLoop === 'Allow',
    asynchronous: readEventInvokeConfig(resource, resolved),
    ...(reservedConcurrency === undefined ? {} : { reservedConcurrency }),
    logging: { format, ...(level !== undefined && { level }) },
  };
}

/** Metadata of a function that cannot run here: the reason. */
export const REFUSAL = 'mcp-task-server-local:refusal';

/** A function that does not run: its invocations fail with the reason. */
function refusedFunction({ name, arn = '', logicalId }: Resource, refusal: string): FunctionResource {
  const runs = { codePath: '', handler: '', timeoutSeconds: 3, memoryMb: 128, environment: {}, roleArn: '' };
  return { name, arn, logicalId, ...runs, refusal };
}

/** The known runtimes: Node runs in this process, the others use the Lambda runtime API. */
const RUNTIME = /^(nodejs(22|24)\.x|python3\.\d+|provided\.al20\d\d)$/;

/**
 * "4 KB, for all environment variables associated with the function, in aggregate" (Lambda quotas), measured as the JSON
 * text of names and values: the refusal of Lambda ends with it ("String measured: {…}").
 */
const MAX_ENVIRONMENT_BYTES = 4_096;

function checkEnvironment({ name }: Resource, variables: Readonly<Record<string, string>>): void {
  const bytes = Buffer.byteLength(JSON.stringify(variables));
  if (bytes <= MAX_ENVIRONMENT_BYTES) return;
  throw new Error(
    `Lambda refuses the function ${name}: its environment variables take ${bytes} bytes, of at most ${MAX_ENVIRONMENT_BYTES}`,
  );
}

function readEventInvokeConfig(resource: Resource, stack: ResolvedStack): AsynchronousSettings {
  const config = ofTypes(stack, 'AWS::Lambda::EventInvokeConfig').find(({ properties: { FunctionName } }) =>
    [resource.name, resource.arn].includes(String(FunctionName)),
  );
  if (!config) return {};
  const { Qualifier, MaximumRetryAttempts, MaximumEventAgeInSeconds, DestinationConfig } = config.properties;
  if (Qualifier !== '$LATEST') throw unknownValue(config, 'Qualifier', Qualifier);
  const retries = numberOf(MaximumRetryAttempts);
  const age = numberOf(MaximumEventAgeInSeconds);
  const destination = stringOf(objectOf(objectOf(DestinationConfig).OnFailure).Destination);
  const queues = ofTypes(stack, 'AWS::SQS::Queue').filter(({ properties }) => !isFifo(properties));
  if (destination !== undefined && !queues.some(({ arn }) => arn === destination)) {
    throw unknownValue(config, 'DestinationConfig.OnFailure.Destination', destination);
  }
  return {
    ...(retries === undefined ? {} : { maximumRetryAttempts: retries }),
    ...(age === undefined ? {} : { maximumEventAgeSeconds: age }),
    ...(destination === undefined ? {} : { onFailure: destination }),
  };
}

/** The function URLs of the template. Throws a ResourceError for one that is not known here. */
export function readFunctionUrls(stacks: readonly ResolvedStack[]): readonly FunctionUrl[] {
  const resources = stacks.flatMap((stack) => stack.resources.filter(({ type }) => type === 'AWS::Lambda::Url'));
  return resources.map((resource) => about(resource, () => readFunctionUrl(resource)));
}

/** A URL without authorization has a policy that lets all call it, which CDK makes: it is not checked here. */
function readFunctionUrl(resource: Resource): FunctionUrl {
  const { TargetFunctionArn, AuthType, InvokeMode = 'BUFFERED' } = resource.properties;
  if (AuthType !== 'NONE') throw unknownValue(resource, 'AuthType', AuthType);
  if (InvokeMode !== 'BUFFERED') throw unknownValue(resource, 'InvokeMode', InvokeMode);
  return { url: functionUrl(resource), functionName: String(TargetFunctionArn) };
}
