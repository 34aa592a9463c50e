import { Token } from 'aws-cdk-lib';
import { sufficient } from '../../functions/authorizer/scopes.ts';

/** How the server identifies callers. There is no default: an open endpoint must be chosen by name. */
export type Auth = AnonymousAuth | OAuth | IamAuth;

export interface AnonymousAuth {
  readonly kind: 'anonymous';
}

/**
 * Anyone who reaches the endpoint may call every tool. Anyone who knows the id of a task (more than 128 random bits)
 * may read, answer and cancel it. 2025-11-25 sessions see their own tasks in `tasks/list` (C-36).
 */
export function anonymous(): AnonymousAuth {
  return { kind: 'anonymous' };
}

export interface IamAuth {
  readonly kind: 'iam';
}

/**
 * Callers sign their requests with AWS credentials (SigV4) and need `execute-api:Invoke` for the API. Tasks belong to
 * the user, the Cognito identity, or the session of a role: the same role under another session name is another owner.
 * Who assumes a role chooses that name, unless its trust policy fixes it (`sts:RoleSessionName`).
 */
export function iam(): IamAuth {
  return { kind: 'iam' };
}

export interface OAuthProps {
  /** The exact `iss` of the access tokens: that of any OpenID Connect provider, or Cognito user pool. */
  readonly issuer: string;
  /**
   * What must be in the `aud` of a token: mostly the URL of this endpoint. Access tokens of Cognito without resource
   * binding have no `aud`: for them the id of the app client.
   */
  readonly audience: string | readonly string[];
  /** The scopes that every call needs. A scope covers those below it: `tasks` covers `tasks:write`. @default none */
  readonly scopes?: readonly string[];
  /** Where the issuer’s keys are. @default what its OpenID Connect configuration says, or its metadata by RFC 8414 */
  readonly jwksUri?: string;
}

export interface OAuth {
  readonly kind: 'oauth';
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  readonly jwksUri?: string;
}

/**
 * Callers bring an access token (OAuth 2.1, RFC 9728). Tasks belong to the issuer and subject of the token, to its
 * client where there is no user.
 *
 * @example
 * oauth({ issuer: 'https://login.example.com', audience: 'https://mcp.example.com/mcp' })
 */
export function oauth({ issuer, audience, scopes: given = [], jwksUri }: OAuthProps): OAuth {
  const scopes = [...new Set(given)];
  checkUrl('oauth: issuer', issuer);
  if (jwksUri !== undefined) checkUrl('oauth: jwksUri', jwksUri);
  const audiences = [audience].flat();
  if (audiences.length === 0 || audiences.some((one) => !Token.isUnresolved(one) && !/^\S+$/.test(one))) {
    throw new Error('oauth: give the audience of the tokens, without blanks');
  }
  checkScopes('oauth', scopes);
  return { kind: 'oauth', issuer, audience: audiences, scopes, ...(jwksUri !== undefined && { jwksUri }) };
}

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

/** Whether the URL is http on this machine: for an issuer beside the embedded cloud. */
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
  if (wrong !== undefined) throw new Error(`${what}: '${wrong}' is no scope that a resource can ask for`);
}

/**
 * All scopes that a call of a tool needs, with those that every call needs. Undefined if it needs no others. Throws for
 * a scope that every caller has: if every call needs `mcp`, all callers have `mcp:deploy`.
 */
export function neededScopes(tool: string, scopes: readonly string[], auth: Auth): readonly string[] | undefined {
  if (scopes.length === 0) return undefined;
  if (auth.kind !== 'oauth') throw new Error(`Tool '${tool}': only tokens have scopes: use auth: oauth(…)`);
  const had = scopes.find((scope) => !auth.scopes.includes(scope) && sufficient([scope], auth.scopes));
  if (had !== undefined) {
    throw new Error(`Tool '${tool}': every caller has the scope '${had}', by one above it that oauth(…) asks of all`);
  }
  const more = scopes.filter((scope) => !auth.scopes.includes(scope));
  return more.length > 0 ? [...new Set([...auth.scopes, ...more])] : undefined;
}
