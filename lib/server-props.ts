import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { ThrottleSettings } from 'aws-cdk-lib/aws-apigateway';
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { WarmThroughput } from 'aws-cdk-lib/aws-dynamodb';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { IHostedZone } from 'aws-cdk-lib/aws-route53';
import type { LogLevel } from 'aws-cdk-lib/aws-stepfunctions';
import type { Auth } from './auth/auth.ts';
import type { EventsOptions } from './events/options.ts';
import type { AlarmThresholds } from './monitoring/alarms.ts';
import type { StorageProps } from './storage/log-group.ts';

export interface McpTaskServerProps extends OperationProps {
  /**
   * Who may call, and how the server identifies callers. There is no default.
   * @example Auth.oauth({ issuer: 'https://login.example.com', audience: 'https://mcp.example.com/mcp' })
   */
  readonly auth: Auth;
  /**
   * The part of the URL before `/mcp`, if you have mapped a name to the API yourself, base path included. `oauth` names
   * it in its metadata. @default the URL of `domain`, or of the stage
   * @example 'https://api.example.com/tools'
   */
  readonly publicUrl?: string;
  /** Name and version that clients see. @default mcp-task-server 0.1.0 @example { name: 'reports', version: '1.0.0' } */
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  /** Instructions for the model: how to use the server. @default none @example 'Render a report before you send it.' */
  readonly instructions?: string;
  /**
   * The longest ttl that a client can ask for, and the longest time that work can take; at most 366 days. A task whose work
   * takes all of it can be read for 5 more minutes. @default 24 hours
   * @example Duration.days(7)
   */
  readonly maxTtl?: Duration;
  /**
   * How long a call without a task waits for its result; 1 second to 10 minutes.
   * @default 25 seconds
   * @example Duration.seconds(10)
   */
  readonly inlineWindow?: Duration;
  /**
   * How long one response stream is held before the client comes back; 1 second to 10 minutes. Lambda does not notice that a
   * client leaves, so a stream costs all of it: above a minute synth warns. @default 50 seconds
   * @example Duration.seconds(30)
   */
  readonly holdCap?: Duration;
  /** Offers `get_task_result` and `cancel_task` to clients that do not support tasks. @default true @example false */
  readonly helperTools?: boolean;
  /**
   * Lets a 2025-11-25 client that can answer questions open a stream by GET. The questions of its tasks reach it there,
   * even if it only polls and never calls tasks/result. The client reconnects every 1 to 30 seconds. @default true
   * @example false
   */
  readonly questionStream?: boolean;
  /**
   * Offers MCP Events: clients subscribe to `task.finished` and `task.asks`, by webhook or by poll (docs/events.md). Costs a queue, a
   * function and an alarm, and each event some more. Not with `anonymous`. @default false
   * @example true
   */
  readonly events?: boolean | EventsOptions;
  /**
   * How many unfinished tasks one caller may have, 1 to 1000: one owner, or one anonymous session. Anonymous callers
   * without a session cannot be identified, so they have no limit. @default 100
   * @example 20
   */
  readonly maxOpenTasks?: number;
  /**
   * How many requests of one caller may wait at the same time, 1 to 1000: `subscriptions/listen`, `tasks/result`, calls
   * without a task, `get_task_result`. Callers are identified as for `maxOpenTasks`. A request above the limit is
   * refused with HTTP 429 and `Retry-After`, or answered at once if the protocol allows it. @default 200
   * @example 50
   */
  readonly maxStreams?: number;
  /**
   * Origins that browsers may call from, like `https://app.example`; `*` as port matches any port. Requests without an
   * Origin are not checked. @default loopback addresses
   * @example ['https://app.example', 'http://localhost:*']
   */
  readonly allowedOrigins?: readonly string[];
}

/** Options for operators: storage, limits, logs, access. See docs/deploying.md. */
export interface OperationProps extends StorageProps {
  /**
   * The policy for the tasks table and the bucket of large results when the stack is deleted. CloudFormation deletes
   * only an empty bucket: with DESTROY, empty it first, or wait until its results have expired. @default RETAIN
   * @example RemovalPolicy.DESTROY
   */
  readonly removalPolicy?: RemovalPolicy;
  /** Prevents the deletion of the tasks table. @default true, unless `removalPolicy` is DESTROY @example false */
  readonly deletionProtection?: boolean;
  /**
   * How often the key is replaced that signs session ids, cursors and the like. Signatures of the last key stay valid,
   * so this must be a day longer than the 24 hours of a session. At most 365 days, in whole hours. @default 90 days
   * @example Duration.days(30)
   */
  readonly keyRotation?: Duration;
  /**
   * The requests that all callers together may make to each method of the endpoint (nearly all are POST), per second and
   * at once. Others get a 429, and clients retry. The default admits more than Step Functions starts: 300 tasks a second
   * after a burst of 1,300 in us-east-1, us-west-2 and eu-west-1, 150 after a burst of 800 in every other region. A call
   * above that rate gets a 429, too, and leaves no task. See docs/deploying.md.
   *
   * @default { rateLimit: 1000, burstLimit: 2000 }, also for a member that is left out
   * @example { rateLimit: 50, burstLimit: 100 }
   */
  readonly throttling?: ThrottleSettings;
  /**
   * Writes a line of JSON to CloudWatch Logs for every request: caller, time, status, but no query, header or body. API
   * Gateway writes it with a role that is set once per account and region. Without this role the stack does not deploy.
   * @default false
   * @example true
   */
  readonly accessLogs?: boolean;
  /**
   * A web ACL before the API: the ARN of yours, or `true` for one with rules that AWS maintains. Its rules about bodies
   * only count: they take texts of models for attacks. Costs some $8 a month, and $0.60 per million requests.
   * @default none
   * @example true
   */
  readonly waf?: true | string;
  /** More alarms than every server has: docs/events.md. @default none @example { failed: 5, oldestOpen: Duration.hours(1) } */
  readonly alarms?: AlarmThresholds;
  /** A CloudWatch dashboard with the metrics of the server. @default false @example true */
  readonly dashboard?: boolean;
  /**
   * Publishes the metrics of tasks for each tool, beside those for the whole server. Each costs $0.30 a month while a tool is in
   * use. Without them the methods `tool.metricFailed()` and the like throw. @default true
   * @example false
   */
  readonly metricsByTool?: boolean;
  /**
   * What the workflows of tools log, always without data. `ALL` is some 12 KB a task. With `ERROR` the log has runs that failed
   * only; of a run on Express nothing else is kept. @default LogLevel.ALL
   * @example LogLevel.ERROR
   */
  readonly workflowLogLevel?: LogLevel;
  /**
   * How many units a second the tasks table and each of its indexes take from the beginning, at least 12,000 read and 4,000 write
   * units. A task takes three write units of the table and of one index. AWS charges once for what is above the default, and never
   * lowers it: a smaller number later fails. @default 12,000 read and 4,000 write units, as any new table
   * @example { writeUnitsPerSecond: 12_000 }
   */
  readonly warmThroughput?: WarmThroughput;
  /**
   * How many runs a second the sweep checks or starts, a whole number from 1 to 100. Each check is a `DescribeExecution`, of which an
   * account has 10 or 15 a second by default: raise that quota first. See docs/deploying.md. @default 6
   * @example 30
   */
  readonly sweepChecksPerSecond?: number;
  /**
   * Gets the events of tasks (docs/events.md).
   * @default the default bus of the account
   * @example EventBus.fromEventBusName(this, 'Bus', 'tasks')
   */
  readonly eventBus?: Pick<IEventBus, 'eventBusArn' | 'eventBusName'>;
  /**
   * Publishes `Task Waits` with the URL of each link that a task waits for, on the same bus (docs/events.md). Who gets these events can
   * answer. Costs an event and a write unit for each link. @default false
   * @example true
   */
  readonly linkEvents?: boolean;
  /**
   * Your name for the API. It then answers under no other name.
   * @default the name that API Gateway makes
   * @example { name: 'mcp.example.com', certificate, hostedZone }
   */
  readonly domain?: Domain;
}

export interface Domain {
  /** The name that clients call. @example 'mcp.example.com' */
  readonly name: string;
  /**
   * A certificate for the name, in the region of the stack.
   * @example Certificate.fromCertificateArn(this, 'Certificate', certificateArn)
   */
  readonly certificate: ICertificate;
  /**
   * The zone that gets the name.
   * @default none: point the name at the output `DomainTarget`, by a CNAME
   * @example HostedZone.fromLookup(this, 'Zone', { domainName: 'example.com' })
   */
  readonly hostedZone?: IHostedZone;
}
