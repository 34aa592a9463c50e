import type { JsonObject } from '../json.ts';
import { partitionOf, urlSuffixOf } from '../partition.ts';
import {
  apiId,
  arn,
  bucketName,
  busArn,
  connectionArn,
  connectionSecretArn,
  functionArn,
  functionUrl,
  generatedId,
  type Identity,
  machineArn,
  mappingArn,
  policyArn,
  queueArn,
  queueUrl,
  ruleArn,
  secretArn,
  streamArn,
  tableArn,
  topicArn,
  uuid,
} from './identity.ts';

/** The part of one CloudFormation type that the embedded cloud knows. It refuses all other properties at its start. */
export interface ResourceType {
  /** Names between blanks: `A` with everything inside, `A.B` only B inside A, `A[].B` only B inside each entry of A. */
  readonly properties: string;
  /** The property with an explicit name, and the longest name that the service accepts. */
  readonly name?: readonly [property: string, limit: number];
  /** The end of a name that CloudFormation makes. @default '' */
  readonly suffix?: (properties: JsonObject) => string;
  /** The property that names the parent of the resource, if the ARN contains the parent. */
  readonly parent?: string;
  /** The value of `Ref`. @default the name */
  readonly ref?: (id: Identity) => string;
  readonly attributes?: Readonly<Record<string, (id: Identity) => string>>;
}

const TABLE =
  'TableName KeySchema AttributeDefinitions BillingMode LocalSecondaryIndexes ' +
  'GlobalSecondaryIndexes[].IndexName GlobalSecondaryIndexes[].KeySchema GlobalSecondaryIndexes[].Projection ' +
  'TimeToLiveSpecification StreamSpecification.StreamViewType ' +
  // No effect on one machine: encryption at rest and capacity limits.
  'SSESpecification WarmThroughput GlobalSecondaryIndexes[].WarmThroughput';

export const RESOURCE_TYPES: Readonly<Record<string, ResourceType>> = {
  // ---- run -------------------------------------------------------------------------------------------------------
  'AWS::DynamoDB::Table': {
    // Backups, tags, capacity and protection against deletion have no local counterpart.
    properties:
      `${TABLE} PointInTimeRecoverySpecification DeletionProtectionEnabled ContributorInsightsSpecification ` +
      'TableClass OnDemandThroughput ProvisionedThroughput GlobalSecondaryIndexes[].ProvisionedThroughput Tags',
    name: ['TableName', 255],
    attributes: { Arn: tableArn, StreamArn: streamArn },
  },
  'AWS::DynamoDB::GlobalTable': {
    // One replica is the table itself. Its backups, tags and capacity have no local counterpart.
    properties:
      `${TABLE} WriteOnDemandThroughputSettings ` +
      'Replicas[].Region Replicas[].PointInTimeRecoverySpecification Replicas[].DeletionProtectionEnabled ' +
      'Replicas[].ContributorInsightsSpecification Replicas[].GlobalSecondaryIndexes Replicas[].SSESpecification ' +
      'Replicas[].TableClass Replicas[].ReadOnDemandThroughputSettings Replicas[].Tags',
    name: ['TableName', 255],
    attributes: { Arn: tableArn, StreamArn: streamArn, TableId: (id) => generatedId(id, 20) },
  },
  'AWS::Lambda::Function': {
    properties:
      'FunctionName Code.S3Bucket Code.S3Key Handler Runtime Timeout MemorySize Environment Role PackageType ' +
      'ReservedConcurrentExecutions RecursiveLoop ' +
      // One machine has one processor, keeps no traces, and prints logs instead of storing them.
      'Architectures Description LoggingConfig TracingConfig Tags',
    name: ['FunctionName', 64],
    attributes: { Arn: functionArn },
  },
  // The function answers the preflight requests here, not Lambda.
  'AWS::Lambda::Url': {
    properties: 'TargetFunctionArn AuthType InvokeMode Cors',
    attributes: { FunctionUrl: functionUrl },
  },
  'AWS::Lambda::EventInvokeConfig': {
    properties:
      'FunctionName Qualifier MaximumRetryAttempts MaximumEventAgeInSeconds DestinationConfig.OnFailure.Destination',
  },
  'AWS::Lambda::EventSourceMapping': {
    properties:
      'EventSourceArn FunctionName Enabled StartingPosition BatchSize MaximumBatchingWindowInSeconds ' +
      'ParallelizationFactor FunctionResponseTypes BisectBatchOnFunctionError MaximumRetryAttempts ' +
      'MaximumRecordAgeInSeconds FilterCriteria.Filters[].Pattern DestinationConfig.OnFailure.Destination ' +
      'ScalingConfig.MaximumConcurrency Tags',
    ref: uuid,
    attributes: { Id: uuid, EventSourceMappingArn: mappingArn },
  },
  'AWS::Events::Rule': {
    properties:
      'Name Description EventBusName State EventPattern ScheduleExpression Targets[].Arn Targets[].Id Targets[].Input ' +
      'Targets[].RetryPolicy.MaximumRetryAttempts Targets[].RetryPolicy.MaximumEventAgeInSeconds ' +
      'Targets[].DeadLetterConfig.Arn',
    name: ['Name', 64],
    parent: 'EventBusName',
    attributes: { Arn: ruleArn },
  },
  'AWS::Events::EventBus': {
    properties: 'Name Description Tags',
    name: ['Name', 256],
    attributes: { Arn: busArn, Name: (id) => id.name },
  },
  // How HTTP tasks of state machines authenticate.
  'AWS::Events::Connection': {
    properties: 'Name Description AuthorizationType AuthParameters KmsKeyIdentifier Tags',
    name: ['Name', 64],
    attributes: { Arn: connectionArn, SecretArn: connectionSecretArn },
  },
  'AWS::SQS::Queue': {
    properties:
      'QueueName ' +
      // Without `FifoQueue`, messages stay in memory, and no consumer receives them.
      'FifoQueue ContentBasedDeduplication DeduplicationScope FifoThroughputLimit ' +
      'MessageRetentionPeriod VisibilityTimeout DelaySeconds MaximumMessageSize ReceiveMessageWaitTimeSeconds ' +
      'KmsMasterKeyId KmsDataKeyReusePeriodSeconds SqsManagedSseEnabled Tags',
    name: ['QueueName', 80],
    // "The name of a FIFO queue must end with the .fifo suffix": CloudFormation adds it to a name that it makes.
    suffix: ({ FifoQueue }) => (FifoQueue === true || FifoQueue === 'true' ? '.fifo' : ''),
    ref: queueUrl,
    attributes: { Arn: queueArn, QueueName: (id) => id.name, QueueUrl: queueUrl },
  },
  // Messages stay in memory, and reach no subscription.
  'AWS::SNS::Topic': {
    properties: 'TopicName FifoTopic DisplayName KmsMasterKeyId SignatureVersion TracingConfig Tags',
    name: ['TopicName', 256],
    ref: topicArn,
    attributes: { TopicArn: topicArn, TopicName: (id) => id.name },
  },
  'AWS::StepFunctions::StateMachine': {
    properties:
      'StateMachineName StateMachineType DefinitionString DefinitionSubstitutions RoleArn ' +
      'DefinitionS3Location.Bucket DefinitionS3Location.Key ' +
      // No CloudWatch, no X-Ray and no encryption at rest here.
      'LoggingConfiguration TracingConfiguration EncryptionConfiguration Tags',
    name: ['StateMachineName', 80],
    ref: machineArn,
    attributes: { Arn: machineArn, Name: (id) => id.name },
  },
  'AWS::SecretsManager::Secret': {
    // Nothing is encrypted at rest here.
    properties: 'Name SecretString GenerateSecretString Description KmsKeyId Tags',
    name: ['Name', 512],
    ref: secretArn,
    attributes: { Id: secretArn },
  },
  'AWS::SecretsManager::RotationSchedule': {
    properties: 'SecretId RotationLambdaARN RotationRules.ScheduleExpression RotateImmediatelyOnUpdate',
  },
  // A policy is refused unless it only denies deleting the secret, which nothing here does.
  'AWS::SecretsManager::ResourcePolicy': { properties: 'SecretId ResourcePolicy BlockPublicPolicy' },
  'AWS::S3::Bucket': {
    properties:
      'BucketName LifecycleConfiguration.Rules[].Id LifecycleConfiguration.Rules[].Status ' +
      'LifecycleConfiguration.Rules[].Prefix LifecycleConfiguration.Rules[].ExpirationInDays ' +
      // Encryption at rest, ownership and public access have no local counterpart.
      'LifecycleConfiguration.Rules[].AbortIncompleteMultipartUpload.DaysAfterInitiation ' +
      'BucketEncryption OwnershipControls PublicAccessBlockConfiguration Tags',
    name: ['BucketName', 63],
    ref: bucketName,
    attributes: { Arn: (id) => `arn:${partitionOf(id.region)}:s3:::${bucketName(id)}` },
  },
  'AWS::ApiGateway::RestApi': {
    // The API has one address here, with or without a custom domain.
    properties:
      'Name EndpointConfiguration.Types EndpointConfiguration.IpAddressType Description Tags DisableExecuteApiEndpoint',
    ref: apiId,
    attributes: { RestApiId: apiId, RootResourceId: (id) => `${apiId(id)}-root` },
  },
  'AWS::ApiGateway::Resource': {
    properties: 'RestApiId ParentId PathPart',
    ref: (id) => generatedId(id, 6),
    attributes: { ResourceId: (id) => generatedId(id, 6) },
  },
  'AWS::ApiGateway::Method': {
    properties:
      'RestApiId ResourceId HttpMethod AuthorizationType AuthorizerId ApiKeyRequired OperationName ' +
      'Integration.Type Integration.IntegrationHttpMethod Integration.Uri Integration.TimeoutInMillis ' +
      'Integration.ResponseTransferMode Integration.PassthroughBehavior Integration.RequestTemplates ' +
      // A proxy integration answers by itself: for it these are only documentation. A mock answers with them.
      'MethodResponses Integration.IntegrationResponses',
  },
  'AWS::ApiGateway::Authorizer': {
    properties: 'RestApiId Name Type AuthorizerUri IdentitySource AuthorizerResultTtlInSeconds',
    ref: (id) => generatedId(id, 6),
    attributes: { AuthorizerId: (id) => generatedId(id, 6) },
  },
  'AWS::ApiGateway::Stage': {
    properties:
      'RestApiId DeploymentId StageName ' +
      // These set throttling, caching, logs and traces of a deployed stage, which have no local counterpart.
      'MethodSettings AccessLogSetting TracingEnabled Description Tags',
    name: ['StageName', 128],
  },
  'AWS::ApiGateway::GatewayResponse': {
    properties: 'RestApiId ResponseType StatusCode ResponseParameters ResponseTemplates',
  },

  // ---- IAM: every call is checked against these ----------------------------------------------------------------------
  'AWS::IAM::Role': {
    properties: 'RoleName AssumeRolePolicyDocument ManagedPolicyArns Policies MaxSessionDuration Description Tags',
    name: ['RoleName', 64],
    attributes: {
      Arn: arn('iam', (id) => `role/${id.name}`),
      RoleId: (id) => `AROA${generatedId(id, 17).toUpperCase()}`,
    },
  },
  'AWS::IAM::Policy': { properties: 'PolicyName PolicyDocument Roles' },
  'AWS::IAM::ManagedPolicy': {
    properties: 'ManagedPolicyName PolicyDocument Roles Description Path',
    name: ['ManagedPolicyName', 128],
    ref: policyArn,
    attributes: { PolicyArn: policyArn },
  },
  'AWS::Lambda::Permission': {
    properties: 'Action FunctionName Principal SourceArn SourceAccount FunctionUrlAuthType InvokedViaFunctionUrl',
  },
  'AWS::SQS::QueuePolicy': { properties: 'PolicyDocument Queues' },

  // ---- inert ---------------------------------------------------------------------------------------------------------
  // Logs are printed, so there is nothing to retain.
  'AWS::Logs::LogGroup': {
    properties: 'LogGroupName RetentionInDays LogGroupClass KmsKeyId Tags',
    name: ['LogGroupName', 512],
    attributes: { Arn: arn('logs', (id) => `log-group:${id.name}:*`) },
  },
  // There are no metrics to watch.
  'AWS::CloudWatch::Alarm': {
    properties:
      'AlarmName AlarmDescription ActionsEnabled AlarmActions OKActions InsufficientDataActions ComparisonOperator ' +
      'DatapointsToAlarm Dimensions EvaluateLowSampleCountPercentile EvaluationPeriods ExtendedStatistic MetricName ' +
      'Metrics Namespace Period Statistic Tags Threshold ThresholdMetricId TreatMissingData Unit',
    name: ['AlarmName', 255],
    attributes: { Arn: arn('cloudwatch', (id) => `alarm:${id.name}`) },
  },
  'AWS::CloudWatch::Dashboard': { properties: 'DashboardName DashboardBody' },
  // Not enforced yet: it refuses requests without TLS, and no request has TLS here.
  'AWS::S3::BucketPolicy': { properties: 'Bucket PolicyDocument' },
  // A snapshot of the API; the embedded cloud always serves the template.
  'AWS::ApiGateway::Deployment': {
    properties: 'RestApiId Description',
    ref: (id) => generatedId(id, 6),
    attributes: { DeploymentId: (id) => generatedId(id, 6) },
  },
  // The role with which API Gateway writes logs.
  'AWS::ApiGateway::Account': { properties: 'CloudWatchRoleArn' },
  // Nothing is encrypted at rest here, so a key has no effect, and its policy is not evaluated.
  'AWS::KMS::Key': {
    properties:
      'Description Enabled EnableKeyRotation RotationPeriodInDays KeyPolicy KeySpec KeyUsage MultiRegion Origin ' +
      'PendingWindowInDays BypassPolicyLockoutSafetyCheck Tags',
    ref: (id) => generatedId(id, 32),
    attributes: { Arn: arn('kms', (id) => `key/${generatedId(id, 32)}`), KeyId: (id) => generatedId(id, 32) },
  },
  'AWS::KMS::Alias': { properties: 'AliasName TargetKeyId' },
  // No network filter here: only this machine reaches the loopback address.
  'AWS::WAFv2::WebACL': {
    properties:
      'Name Scope DefaultAction Description Rules VisibilityConfig AssociationConfig CaptchaConfig ChallengeConfig ' +
      'CustomResponseBodies TokenDomains Tags',
    attributes: { Arn: arn('wafv2', (id) => `regional/webacl/${id.name}/${generatedId(id, 32)}`) },
  },
  'AWS::WAFv2::WebACLAssociation': { properties: 'ResourceArn WebACLArn' },
  // The API is served at one address without TLS, as behind a domain with an empty base path.
  'AWS::ApiGateway::DomainName': {
    properties:
      'DomainName RegionalCertificateArn CertificateArn EndpointConfiguration SecurityPolicy EndpointAccessMode ' +
      'MutualTlsAuthentication OwnershipVerificationCertificateArn RoutingMode Tags',
    name: ['DomainName', 253],
    attributes: {
      RegionalDomainName: (id) => `d-${generatedId(id, 10)}.execute-api.${id.region}.${urlSuffixOf(id.region)}`,
      RegionalHostedZoneId: (id) => `Z${generatedId(id, 13).toUpperCase()}`,
    },
  },
  'AWS::ApiGateway::BasePathMapping': { properties: 'DomainName RestApiId Stage' },
  'AWS::CertificateManager::Certificate': {
    properties:
      'DomainName SubjectAlternativeNames DomainValidationOptions ValidationMethod KeyAlgorithm ' +
      'CertificateTransparencyLoggingPreference Tags',
    ref: arn('acm', (id) => `certificate/${generatedId(id, 32)}`),
  },
  'AWS::Route53::RecordSet': {
    properties: 'Name Type HostedZoneId HostedZoneName AliasTarget ResourceRecords TTL Comment',
  },
  // This only counts for AWS which constructs are used.
  'AWS::CDK::Metadata': { properties: 'Analytics' },
};
