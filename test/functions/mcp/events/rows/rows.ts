/** Why a row of pull request 504 does not apply here. docs/protocol.md, section H, has the same list. */
const PUSH = 'push is not offered';
const FIXED = 'types change with a deployment only';
const NO_EXPIRY = 'every grant ends';

export const NOT_APPLICABLE = {
  'breaking-change-new-name': FIXED,
  'list-changed-notification': FIXED,
  'removal-terminates-subscriptions': FIXED,
  'removal-error-not-found': FIXED,
  'removal-error-schema-changed': FIXED,
  'poll-mode-unsupported': 'every type offers poll',
  'truncated-false-when-no-replay': 'every type can be replayed',
  'stream-implemented': PUSH,
  'stream-error-before-open': PUSH,
  'stream-active-confirmation': PUSH,
  'stream-subscription-id-meta': PUSH,
  'stream-event-notification': PUSH,
  'stream-error-is-recoverable': PUSH,
  'stream-terminated-ends-subscription': PUSH,
  'stream-gap-resends-active': PUSH,
  'stream-heartbeat-required': PUSH,
  'stream-heartbeat-carries-cursor': PUSH,
  'stream-heartbeat-interval': PUSH,
  'stream-heartbeat-not-sse-comment': PUSH,
  'stream-final-result-shape': PUSH,
  'stream-final-result-timing': PUSH,
  'stream-cancel-stops-delivery': PUSH,
  'stream-exempt-from-concurrency-cap': PUSH,
  'stream-carries-only-event-notifications': PUSH,
  'ttl-no-expiry-persisted': NO_EXPIRY,
  'ttl-no-expiry-gc-terminated': NO_EXPIRY,
  'verification-persisted-for-no-expiry': NO_EXPIRY,
  'server-identity-key-discovery': 'signatures are symmetric: there is no public key',
  'envelope-gap': 'nothing is lost between two refreshes, so there is no gap',
  'envelope-terminated':
    'a subscription ends by its client, in time, or by an operator, at once: its secret is gone then, and no last message could be signed',
} as const;

/** The other rows: each has one test, by its id. */
export const TESTED = `
  capability-events-object capability-list-changed-flag list-implemented list-pagination descriptor-name
  descriptor-description descriptor-delivery-subset descriptor-input-schema descriptor-payload-schema
  descriptor-meta schema-evolution-additive removal-additive-no-terminate removal-poll-not-found
  error-invalid-params error-not-found error-forbidden error-resource-exhausted error-unsupported
  error-callback-endpoint-error error-server-range poll-implemented poll-one-subscription-per-request
  poll-bootstraps-subscription poll-events-array poll-response-cursor poll-next-poll-ms
  poll-next-poll-ms-ignored-when-has-more poll-has-more poll-max-events-cap poll-stateless-request
  poll-errors-are-jsonrpc poll-invalid-arguments occurrence-event-id occurrence-name occurrence-timestamp
  occurrence-data occurrence-cursor-optional occurrence-meta-ungoverned occurrence-event-id-from-upstream
  cursor-opaque cursor-null-starts-from-now cursor-absent-equals-null cursor-consistency
  cursor-advances-when-quiet max-age-ms-floor max-age-ms-sets-truncated max-age-ms-ignored-when-cursor-null
  replay-ceiling-sets-truncated truncated-returns-fresh-cursor truncated-poll-never-an-error
  subscribe-webhook-only subscribe-secret-required subscribe-secret-format subscribe-secret-rejected
  subscribe-url-https-required subscribe-url-non-https-rejected subscribe-auth-required subscribe-key-composition
  subscribe-key-immutable subscribe-idempotent-upsert subscribe-id-derived subscribe-id-not-an-input
  subscribe-refresh-replaces-secret subscribe-refresh-reactivates subscribe-response-cursor
  subscribe-response-truncated subscribe-cross-tenant-isolation ttl-refresh-before-lte-suggestion
  ttl-no-rejection-path ttl-null-only-when-requested ttl-omitted-means-default ttl-long-grant-retained
  unsubscribe-by-key unsubscribe-unknown-not-found delivery-status-last-error-category delivery-post-json
  delivery-standard-webhooks-headers delivery-subscription-id-header delivery-signature-formula
  delivery-retry-regenerates-signature delivery-dual-sign-on-rotation delivery-body-size
  delivery-413-non-retryable delivery-410-non-retryable delivery-retries-bounded ssrf-validate-callback-url
  ssrf-reject-non-routable ssrf-validate-at-delivery-time ssrf-no-redirects verification-required-before-delivery
  verification-challenge-echo verification-failure-error verification-cached-per-principal-url
  verification-uses-ssrf-hardened-path verification-no-raw-endpoint-responses envelope-type-discriminator
  envelope-signed-like-deliveries envelope-webhook-id-format authz-subscribe-time authz-delivery-time-reverify
  payload-minimality
`
  .trim()
  .split(/\s+/);
