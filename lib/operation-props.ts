import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IHostedZone } from 'aws-cdk-lib/aws-route53';
import type { Keeping } from './storage/log-group.ts';

/** How a server is kept and guarded: for whoever operates it. See docs/deploying.md. */
export interface OperationProps extends Keeping {
  /**
   * What happens to the tasks table and the bucket of large results when the stack goes. CloudFormation deletes no
   * bucket that holds anything: with DESTROY, empty it first, or wait until its results have expired. @default RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /** Keeps anybody from deleting the tasks table. @default true, unless `removalPolicy` is DESTROY */
  readonly deletionProtection?: boolean;
  /**
   * How often the key is replaced that signs session ids, cursors and the like. What the key before has signed is
   * still good, so this is at least a day longer than anything signed lives: `maxTtl`, or the 24 hours of a session.
   * At most 365 days, in whole hours. @default 90 days
   */
  readonly keyRotation?: Duration;
  /**
   * Requests per second to each method of the endpoint (nearly all are POST) that all callers together may make, and how
   * many at once; others get a 429, and clients come again. The default lets in more than Step Functions starts: 300
   * tasks a second after a burst of 1,300 in us-east-1, us-west-2 and eu-west-1, 150 after a burst of 800 in every other
   * region. A call beyond that gets a 429, too, and leaves no task behind. See docs/deploying.md.
   * @default 1000 per second, bursts of 2000
   */
  readonly throttling?: { readonly rate: number; readonly burst: number };
  /**
   * A line of JSON in CloudWatch Logs for every request: who, when, what came of it, but no query, header, or body. API
   * Gateway writes them with a role that is set once per account and region, and without which this does not deploy.
   * @default false
   */
  readonly accessLogs?: boolean;
  /**
   * A web ACL before the API: the ARN of yours, or `true` for one with rules that AWS keeps, of which those about
   * bodies only count, since they take what models write for attacks. Costs some $8 a month, and $0.60 per million
   * requests. @default none
   */
  readonly waf?: true | string;
  /** A name of your own for the API, at which it is then reached, and nowhere else. @default that of API Gateway */
  readonly domain?: Domain;
}

export interface Domain {
  /** Like `mcp.example.com`. */
  readonly name: string;
  /** For that name, in the region of the stack. */
  readonly certificate: ICertificate;
  /** Where the name is entered. @default nowhere: point it at the output `DomainTarget`, by a CNAME */
  readonly hostedZone?: IHostedZone;
}
