import { readFileSync } from 'node:fs';
import { type JsonObject, listOf, numberOf, objectOf, stringOf } from '../json.ts';
import { readFunction } from './functions.ts';
import { streamArn } from './identity.ts';
import { about, isFifo, ofTypes, type ResolvedStack, type Resource, unknownValue } from './resources.ts';
import { rateMs } from './schedule.ts';

export interface MachineResource {
  readonly logicalId: string;
  readonly arn: string;
  readonly name: string;
  readonly roleArn: string;
  readonly definition: string;
}

export interface TableResource {
  readonly name: string;
  /** The input of CreateTable. */
  readonly schema: JsonObject;
  /** The attribute with the expiry, if the table has one. */
  readonly ttlAttribute?: string;
  readonly stream?: StreamResource;
}

export interface StreamResource {
  readonly arn: string;
  readonly region: string;
  readonly viewType: StreamViewType;
}

export type StreamViewType = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES';

export interface SecretResource {
  readonly name: string;
  readonly arn: string;
  readonly value?: string;
  readonly generate: JsonObject;
  /** The function that rotates the value, and the time between rotations. */
  readonly rotation?: { readonly functionArn: string; readonly everyMs: number };
}

export interface BucketResource {
  readonly name: string;
  /** Objects whose keys begin with `prefix` expire after `days`. */
  readonly expirations: readonly { readonly prefix: string; readonly days: number }[];
  /** Uploads in parts, to keys that begin with `prefix`, are aborted after `days`. */
  readonly uploadExpirations: readonly { readonly prefix: string; readonly days: number }[];
}

export interface QueueResource {
  readonly name: string;
  readonly arn: string;
}

export type Specs = Readonly<ReturnType<typeof readSpecs>>;

/** Throws a ResourceError for a value that the embedded cloud cannot honour. */
export function readSpecs(stacks: readonly ResolvedStack[]) {
  const all = <T>(types: string, read: (resource: Resource, stack: ResolvedStack) => T): T[] =>
    stacks.flatMap((stack) => ofTypes(stack, types).map((resource) => about(resource, () => read(resource, stack))));
  return {
    functions: all('AWS::Lambda::Function', readFunction),
    machines: all('AWS::StepFunctions::StateMachine', readMachine),
    tables: all('AWS::DynamoDB::Table AWS::DynamoDB::GlobalTable', readTable),
    secrets: all('AWS::SecretsManager::Secret', readSecret),
    buckets: all('AWS::S3::Bucket', readBucket),
    /** The standard ones: what is given up goes to no FIFO queue. */
    queues: all('AWS::SQS::Queue', (one) => one).flatMap(({ properties, name, arn = '' }): QueueResource[] =>
      isFifo(properties) ? [] : [{ name, arn }],
    ),
    roles: new Map(all('AWS::IAM::Role', ({ arn = '', logicalId }): [string, string] => [arn, logicalId])),
  };
}

function readMachine(resource: Resource, { stack }: ResolvedStack): MachineResource {
  const { DefinitionSubstitutions, RoleArn, StateMachineType = 'STANDARD' } = resource.properties;
  if (StateMachineType !== 'STANDARD' && StateMachineType !== 'EXPRESS') {
    throw unknownValue(resource, 'StateMachineType', StateMachineType);
  }
  const substitutions = objectOf(DefinitionSubstitutions);
  const definition = definitionText(resource, stack).replace(/\$\{([^}]+)\}/g, (text, name: string) =>
    Object.hasOwn(substitutions, name) ? String(substitutions[name]) : text,
  );
  const type = StateMachineType === 'EXPRESS' && { type: StateMachineType };
  const { arn = '', name, logicalId } = resource;
  return { logicalId, arn, name, roleArn: String(RoleArn), definition, ...type };
}

/** The definition before its substitutions: text of the template, or the asset that `DefinitionBody.fromFile` makes. */
export function definitionText(resource: Resource, { assets }: ResolvedStack['stack']): string {
  const { DefinitionString, DefinitionS3Location } = resource.properties;
  if (DefinitionString !== undefined) return String(DefinitionString);
  const { Key } = objectOf(DefinitionS3Location);
  const path = assets.get(String(Key));
  if (path === undefined) throw unknownValue(resource, 'DefinitionS3Location.Key', Key);
  return readFileSync(path, 'utf8');
}

function readTable(resource: Resource): TableResource {
  const { KeySchema, AttributeDefinitions, BillingMode, ProvisionedThroughput, LocalSecondaryIndexes } =
    resource.properties;
  const { GlobalSecondaryIndexes, TimeToLiveSpecification, Replicas } = resource.properties;
  if (Array.isArray(Replicas) && Replicas.length > 1) throw unknownValue(resource, 'Replicas', Replicas);
  const schema = {
    TableName: resource.name,
    KeySchema,
    AttributeDefinitions,
    BillingMode,
    ProvisionedThroughput,
    LocalSecondaryIndexes,
    GlobalSecondaryIndexes: Array.isArray(GlobalSecondaryIndexes)
      ? GlobalSecondaryIndexes.map(objectOf).map(({ WarmThroughput: _, ...index }) => index)
      : undefined,
  };
  const ttl = objectOf(TimeToLiveSpecification);
  const attribute = ttl.Enabled === true || ttl.Enabled === 'true' ? stringOf(ttl.AttributeName) : undefined;
  const stream = readStream(resource);
  return {
    name: resource.name,
    schema,
    ...(attribute === undefined ? {} : { ttlAttribute: attribute }),
    ...(stream && { stream }),
  };
}

export const VIEW_TYPES: readonly StreamViewType[] = ['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES'];

function readStream(resource: Resource): StreamResource | undefined {
  const { StreamSpecification } = resource.properties;
  if (StreamSpecification === undefined) return undefined;
  const wanted = objectOf(StreamSpecification).StreamViewType;
  const viewType = VIEW_TYPES.find((one) => one === wanted);
  if (!viewType) throw unknownValue(resource, 'StreamSpecification.StreamViewType', wanted);
  return { arn: streamArn(resource), region: resource.region, viewType };
}

function readSecret(resource: Resource, stack: ResolvedStack): SecretResource {
  const { SecretString, GenerateSecretString } = resource.properties;
  const schedules = ofTypes(stack, 'AWS::SecretsManager::RotationSchedule');
  const schedule = schedules.find(({ properties: { SecretId } }) => SecretId === resource.ref);
  ofTypes(stack, 'AWS::SecretsManager::ResourcePolicy').forEach(checkSecretPolicy);
  return {
    name: resource.name,
    arn: resource.ref ?? '',
    generate: objectOf(GenerateSecretString),
    ...(typeof SecretString === 'string' ? { value: SecretString } : {}),
    ...(schedule && { rotation: readRotation(schedule) }),
  };
}

function checkSecretPolicy(resource: Resource): void {
  for (const statement of listOf(objectOf(resource.properties.ResourcePolicy).Statement)) {
    const { Effect, Action } = objectOf(statement);
    if (Effect !== 'Deny' || Action !== 'secretsmanager:DeleteSecret') {
      throw unknownValue(resource, 'ResourcePolicy.Statement[]', statement);
    }
  }
}

function readRotation(resource: Resource): NonNullable<SecretResource['rotation']> {
  const { RotationLambdaARN, RotationRules, RotateImmediatelyOnUpdate = true } = resource.properties;
  const { ScheduleExpression } = objectOf(RotationRules);
  const everyMs = rateMs(String(ScheduleExpression));
  if (everyMs === undefined) throw unknownValue(resource, 'RotationRules.ScheduleExpression', ScheduleExpression);
  // This cloud has no deployments: each start would rotate.
  if (RotateImmediatelyOnUpdate !== false) {
    throw unknownValue(resource, 'RotateImmediatelyOnUpdate', RotateImmediatelyOnUpdate);
  }
  return { functionArn: String(RotationLambdaARN), everyMs };
}

function readBucket(resource: Resource): BucketResource {
  const { LifecycleConfiguration } = resource.properties;
  const rules = listOf(objectOf(LifecycleConfiguration).Rules).map(objectOf);
  const daysOf = (read: (rule: JsonObject) => unknown) =>
    rules.flatMap((rule) => {
      const days = numberOf(read(rule));
      return rule.Status === 'Enabled' && days !== undefined ? [{ prefix: stringOf(rule.Prefix) ?? '', days }] : [];
    });
  return {
    name: resource.ref ?? '',
    expirations: daysOf(({ ExpirationInDays }) => ExpirationInDays),
    uploadExpirations: daysOf((rule) => objectOf(rule.AbortIncompleteMultipartUpload).DaysAfterInitiation),
  };
}
