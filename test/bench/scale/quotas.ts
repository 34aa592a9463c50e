/** A default of AWS in us-east-1. */
export interface Quota {
  /** A second, but for `concurrency`. */
  readonly most: number;
  /** The page of AWS that says it. */
  readonly source: string;
  /** What the page says, in short. */
  readonly rule: string;
}

const dynamoDb = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide';
const stepFunctions = 'https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html';

export const quotas = {
  partitionWrites: {
    most: 1_000,
    source: `${dynamoDb}/bp-partition-key-design.html`,
    rule: '1,000 write units a second for each partition',
  },
  partitionReads: {
    most: 3_000,
    source: `${dynamoDb}/bp-partition-key-design.html`,
    rule: '3,000 read units a second for each partition',
  },
  indexWrites: {
    most: 1_000,
    source: `${dynamoDb}/gsi-throttling.html`,
    rule: '1,000 write units a second for each key of an index, and an index that throttles throttles its table',
  },
  newTable: {
    most: 4_000,
    source: `${dynamoDb}/warm-throughput-scenarios.html`,
    rule: '4,000 write units a second for a new table or index',
  },
  table: {
    most: 40_000,
    source: `${dynamoDb}/ServiceQuotas.html`,
    rule: '40,000 write units a second for each table or index',
  },
  startStandard: { most: 300, source: stepFunctions, rule: '300 starts a second; 150 outside three regions' },
  startExpress: { most: 6_000, source: stepFunctions, rule: '6,000 starts a second' },
  transitions: {
    most: 5_000,
    source: stepFunctions,
    rule: '5,000 state transitions a second; 800 outside three regions',
  },
  concurrency: {
    most: 1_000,
    source: 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html',
    rule: '1,000 executions at the same time; less in a new account',
  },
  requests: {
    most: 10_000,
    source: 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
    rule: '10,000 requests a second of an account',
  },
  putEvents: {
    most: 10_000,
    source: 'https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html',
    rule: '10,000 PutEvents a second; fewer in most regions',
  },
} as const satisfies Readonly<Record<string, Quota>>;
