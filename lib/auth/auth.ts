import { Token } from 'aws-cdk-lib';
import { sufficient } from '../../functions/authorizer/scopes.ts';

/** How the server identifies callers. There is no default: an open endpoint must be chosen by name. */
export type Auth = AnonymousAuth | OAuth | IamAuth;

export interface AnonymousAuth {
  readonly kind: 'anonymous';
}

export interface IamAuth {
  readonly kind: 'iam';
}

export interface OAuthProps {
  /**
   * The exact `iss` of the access tokens: any OpenID Connect provider, or a Cognito user pool.
   * @example 'https://login.example.com'
   */
  readonly issuer: string;
  /**
   * The value that the `aud` of a token must have: mostly the URL of this endpoint. Access tokens of Cognito without
   * resource binding have no `aud`: give the id of the app client.
   * @example 'https://mcp.example.com/mcp'
   */
  readonly audience: string | readonly string[];
  /**
   * The scopes that every call needs. A scope covers all scopes below it: `tasks` covers `tasks:write`.
   * @default none
   * @example ['tasks']
   */
  readonly scopes?: readonly string[];
  /**
   * The URL of the issuer’s keys.
   * @default the URL in its OpenID Connect configuration, or in its metadata by RFC 8414
   * @example 'https://login.example.com/jwks.json'
   */
  readonly jwksUri?: string;
  /**
   * The claims of a token that tools see, in `task.caller.claims`: at most 10 names of at most 128 characters. Subject, client and claims
   * take at most 1,024 bytes of ASCII JSON. A claim that does not fit is left out, and the authorizer logs its name.
   * @default none
   * @example ['email', 'groups']
   */
  readonly callerClaims?: readonly string[];
}

export interface OAuth {
  readonly kind: 'oauth';
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  readonly jwksUri?: string;
  readonly callerClaims?: readonly string[];
}

/** The ways to identify callers. */
export const Auth = {
  /**
   * Lets every caller call every tool. A caller that knows the id of a task (more than 128 random bits) may read, answer
   * and cancel it. 2025-11-25 sessions see their own tasks in `tasks/list` (C-36).
   *
   * @example
   * new McpTaskServer(this, 'Server', { auth: Auth.anonymous() });
   */
  anonymous: (): AnonymousAuth => ({ kind: 'anonymous' }),

  /**
   * Requires AWS credentials: callers sign their requests (SigV4) and need `execute-api:Invoke` for the API. Tasks belong
   * to the user, the Cognito identity, or the session of a role: the same role under another session name is another
   * owner. The caller that assumes a role chooses the session name, unless the trust policy fixes it
   * (`sts:RoleSessionName`).
   *
   * @example
   * new McpTaskServer(this, 'Server', { auth: Auth.iam() });
   */
  iam: (): IamAuth => ({ kind: 'iam' }),

  /**
   * Requires an access token (OAuth 2.1, RFC 9728). Tasks belong to the issuer and subject of the token, or to its client
   * if there is no user. Throws for a URL, an audience, a scope or a name of a claim that cannot work.
   *
   * @example
   * const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: 'https://mcp.example.com/mcp' });
   */
  oauth({ issuer, audience, scopes: given = [], jwksUri, callerClaims = [] }: OAuthProps): OAuth {
    const scopes = [...new Set(given)];
    checkUrl('Auth.oauth: issuer', issuer);
    if (jwksUri !== undefined) checkUrl('Auth.oauth: jwksUri', jwksUri);
    const audiences = [audience].flat();
    if (audiences.length === 0 || audiences.some((one) => !Token.isUnresolved(one) && !/^\S+$/.test(one))) {
      throw new Error('Auth.oauth: give the audience of the tokens, without blanks');
    }
    checkScopes('Auth.oauth', scopes);
    if (callerClaims.length > MOST_CLAIMS || callerClaims.some((name) => !/^\S{1,128}$/.test(name))) {
      throw new Error(
        `Auth.oauth: callerClaims holds at most ${MOST_CLAIMS} names of 1 to 128 characters without blanks`,
      );
    }
    return {
      kind: 'oauth',
      issuer,
      audience: audiences,
      scopes,
      ...(jwksUri !== undefined && { jwksUri }),
      ...(callerClaims.length > 0 && { callerClaims }),
    };
  },
} as const;

/** The most claims that tools see. */
const MOST_CLAIMS = 10;

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

/** Whether the URL is http on this machine, as for an issuer beside the embedded cloud. */
export const isLoopback = (url: string): boolean =>
  URL.canParse(url) && new URL(url).protocol === 'http:' && LOOPBACK.includes(new URL(url).hostname);

/** Accepts https, and http only on this machine. */
export function checkUrl(what: string, text: string): void {
  if (Token.isUnresolved(text)) return;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const safe = url?.protocol === 'https:' || isLoopback(text);
  if (url === undefined || !safe || /[?#'"\s$]/.test(text)) {
    throw new Error(`${what}: '${text}' must be an https URL without query or fragment`);
  }
}

/**
 * Throws for a scope that a header cannot hold, and for `offline_access`, which is between client and issuer (G-11).
 */
export function checkScopes(what: string, scopes: readonly string[]): void {
  const wrong = scopes.find((scope) => !/^[\w:/.~*+@-]+$/.test(scope) || scope === 'offline_access');
  if (wrong !== undefined) throw new Error(`${what}: '${wrong}' cannot be a scope of a resource`);
}

/** Each event of a task has the scopes of its tool, and a request reads 300 of them (docs/limits.md). */
const MOST = 512;

/**
 * All scopes that a call of a tool needs, including the scopes of every call; undefined if it needs no others. Throws for
 * a scope that every caller has: if every call needs `mcp`, all callers have `mcp:deploy`.
 */
export function neededScopes(tool: string, scopes: readonly string[], auth: Auth): readonly string[] | undefined {
  if (scopes.length === 0) return undefined;
  if (auth.kind !== 'oauth') throw new Error(`Tool '${tool}': only tokens have scopes: use auth: Auth.oauth(…)`);
  const had = scopes.find((scope) => !auth.scopes.includes(scope) && sufficient([scope], auth.scopes));
  if (had !== undefined) {
    throw new Error(`Tool '${tool}': every caller has the scope '${had}': Auth.oauth(…) requires one above it`);
  }
  if (scopes.every((scope) => auth.scopes.includes(scope))) return undefined;
  const all = [...new Set([...auth.scopes, ...scopes])];
  const { length } = all.join(' ');
  if (length > MOST) {
    throw new Error(
      `Tool '${tool}': its scopes, with the scopes of every call, take ${length} characters, ${MOST} at most`,
    );
  }
  return all;
}
