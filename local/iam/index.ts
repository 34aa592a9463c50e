import { AwsError } from '../aws-error.ts';
import type { CallFacts } from '../faults/index.ts';
import { partitionOf } from '../partition.ts';
import type { ResolvedStack } from '../template/resources.ts';
import type { Specs } from '../template/specs.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { type Role, readResourcePolicies, readRoles } from './policies.ts';
import { createRequests, type RegionAndAccount } from './requests.ts';
import { type AccessRequest, type Covering, covering, type Statement } from './statements.ts';

export type Iam = ReturnType<typeof createIam>;

/** The part of IAM that tests see. */
export type Permissions = Pick<Ledger, 'unused'>;

/** IAM: checks every call against the policies of the template. */
export function createIam(stacks: readonly ResolvedStack[], specs: Specs, place: RegionAndAccount) {
  const roles = readRoles(stacks);
  const resourcePolicies = readResourcePolicies(stacks);
  const callers = readCallers(roles, specs);
  const requestsOf = createRequests(specs, place);
  const ledger = openLedger([...[...roles.values()].flatMap((role) => role.statements), ...resourcePolicies]);

  const judge = (statements: readonly Covering[], request: AccessRequest): Verdict => {
    let verdict: Verdict = 'silent';
    for (const { statement, grant } of statements) {
      if (!statement.condition(request.context)) continue;
      if (!statement.allows) return 'denied';
      ledger.use(statement, grant);
      verdict = 'allowed';
    }
    return verdict;
  };
  const ofRole = rememberCovering();
  const onBehalf = (source: string) => ({
    'aws:SourceArn': source,
    'aws:SourceAccount': source.split(':')[4] || place.account,
    'aws:SecureTransport': 'true',
  });
  const ofService = (statements: readonly Statement[], service: string) =>
    statements.filter(({ principals }) => principals.includes('*') || principals.includes(service));

  return {
    ledger,
    /**
     * The error that refuses a call; undefined if it is allowed. Functions and state machines have the rights of their
     * roles. Any other access key, and a role that is not in the template, counts as an administrator.
     */
    denied(call: CallFacts): AwsError | undefined {
      const caller = callers.get(call.caller);
      if (!caller) return undefined;
      for (const request of requestsOf(call)) {
        const verdict = judge(ofRole(caller.role, request), request);
        if (verdict !== 'allowed') return accessDenied(call, caller, request, verdict);
      }
      return undefined;
    },
    /** The ARN of the session or user behind an access key. */
    userOf(accessKey: string): string {
      const caller = callers.get(accessKey);
      return caller === undefined
        ? `arn:${partitionOf(place.region)}:iam::${place.account}:user/${accessKey}`
        : sessionArn(caller);
    },
    mayRole(roleArn: string, action: string, resource: string): boolean {
      const role = roles.get(roleArn);
      const request = { action, resource, context: {} };
      return role === undefined || judge(ofRole(role, request), request) === 'allowed';
    },
    /** Whether a service of AWS may assume the role, on behalf of `source`. */
    mayAssume(service: string, roleArn: string, source: string): boolean {
      const role = roles.get(roleArn);
      const request = { action: 'sts:AssumeRole', resource: roleArn, context: onBehalf(source) };
      return role === undefined || judge(covering(ofService(role.trust, service), request), request) === 'allowed';
    },
    /** Whether a service of AWS may act on a resource of the template, on behalf of `source`. */
    mayService(service: string, action: string, resource: string, source: string): boolean {
      const request = { action, resource, context: onBehalf(source) };
      return judge(covering(ofService(resourcePolicies, service), request), request) === 'allowed';
    },
  };
}

/** Answers that are kept for each role: many resources, such as executions, appear once. */
const REMEMBERED = 1_000;

/** The statements of a role that cover an action on a resource. Remembered: most calls repeat the two. */
function rememberCovering(): (role: Role, request: AccessRequest) => readonly Covering[] {
  const known = new Map<Role, Map<string, readonly Covering[]>>();
  return (role, request) => {
    const ofRole = known.get(role) ?? new Map<string, readonly Covering[]>();
    known.set(role, ofRole);
    const key = `${request.action} ${request.resource}`;
    const found = ofRole.get(key) ?? covering([...role.statements, ...role.managed], request);
    if (ofRole.size >= REMEMBERED) ofRole.clear();
    ofRole.set(key, found);
    return found;
  };
}

type Verdict = 'allowed' | 'denied' | 'silent';

interface Caller {
  readonly role: Role;
  readonly session: string;
}

/** Callers by access key, which is the logical id of a function or of a state machine's role. */
function readCallers(roles: ReadonlyMap<string, Role>, specs: Specs): ReadonlyMap<string, Caller> {
  const keys = [
    ...[...specs.roles].map(([arn, key]) => ({ key, arn, session: 'StepFunctions' })),
    ...specs.functions.map(({ logicalId: key, roleArn: arn, name: session }) => ({ key, arn, session })),
  ];
  const callers = new Map<string, Caller>();
  for (const { key, arn, session } of keys) {
    const role = roles.get(arn);
    const other = callers.get(key)?.role;
    if (other && other !== role) throw new Error(`the embedded cloud cannot distinguish one ${key} from another`);
    if (role) callers.set(key, { role, session });
  }
  return callers;
}

/** The errors of services that do not share the usual one. */
const OWN_ERRORS: Readonly<Record<string, string>> = { s3: 'AccessDenied', sns: 'AuthorizationError' };

/** Builds the refusal. */
function accessDenied(call: CallFacts, caller: Caller, request: AccessRequest, verdict: Verdict): AwsError {
  const { action, resource } = request;
  const why =
    verdict === 'denied'
      ? 'with an explicit deny in an identity-based policy'
      : `because no identity-based policy allows the ${action} action`;
  const type = OWN_ERRORS[call.service] ?? 'AccessDeniedException';
  const status = type === 'AccessDeniedException' && call.service !== 'lambda' ? 400 : 403;
  return new AwsError(
    type,
    `User: ${sessionArn(caller)} is not authorized to perform: ${action} on resource: ${resource} ${why}`,
    status,
  );
}

const sessionArn = ({ role, session }: Caller): string =>
  `arn:${role.arn.split(':')[1]}:sts::${role.account}:assumed-role/${role.name}/${session}`;
