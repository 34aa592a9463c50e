/**
 * The rules that each scenario of the official suite proves while it gates and passes, read from its code (0.2.0-alpha.12).
 * A row is listed only if a server that breaks its main sentence, or answers another JSON-RPC code than the one it
 * names, gets a FAILURE: checks that can only warn or be skipped count for nothing here. HTTP statuses are left to
 * the project's own tests, because most scenarios do not check them.
 */
export const byScenario: Readonly<Record<string, readonly string[]>> = {
  'tasks-lifecycle': ['E-06', 'E-12', 'E-13', 'E-21'],
  'tasks-capability-negotiation': ['E-02', 'E-03', 'E-16'],
  'tasks-wire-fields': ['E-08'],
  'tasks-request-state-removal': [],
  // E-11 also lists members that must be absent, and no scenario checks all of them.
  'tasks-mrtr-input': ['E-17', 'E-19'],
  // A mismatch only, and only on tasks/get: neither D-05 nor E-31.
  'tasks-request-headers': [],
  // An unknown key only, an unknown id only: neither E-18 nor E-15.
  'tasks-dispatch-and-envelope': ['D-11', 'E-07', 'E-09', 'E-22', 'E-23'],
  'tasks-required-task-error': ['E-04'],
  'tasks-mrtr-composition': ['E-10'],
  'tasks-status-notifications': [],

  // A wrong code only warns: not D-05.
  'http-header-validation': ['A-09'],
  // A missing header, no unequal one: not D-07.
  'http-custom-header-server-validation': ['D-06'],
  // A -32601 skips the checks of subscriptions/listen, a missing serverInfo warns, and no check reads -32022.
  'server-stateless': ['A-05', 'D-01', 'D-09', 'D-10', 'D-19', 'D-27'],
  // Any 4xx will do, and the foreign Host alone may earn it: not A-08.
  'dns-rebinding-protection': [],
  'server-initialize': ['B-02'],
  'server-session-lifecycle': [],
  'server-sse-multiple-streams': [],
  'server-sse-polling': [],
  ping: [],
  caching: [],

  // Names and order only warn: neither A-18 nor D-17.
  'tools-list': [],
  'tools-call-simple-text': [],
  'tools-call-error': [],
  'tools-call-image': [],
  'tools-call-audio': [],
  'tools-call-embedded-resource': [],
  'tools-call-mixed-content': [],
  // Equal values pass: not A-22.
  'tools-call-with-progress': [],
  'tools-call-elicitation': [],
  'tools-call-sampling': [],
  'tools-call-with-logging': [],
  'elicitation-sep1034-defaults': [],
  'elicitation-sep1330-enums': [],
  'json-schema-2020-12': [],

  'input-required-result-basic-elicitation': ['D-20'],
  'input-required-result-basic-sampling': [],
  'input-required-result-basic-list-roots': [],
  'input-required-result-request-state': [],
  'input-required-result-multiple-input-requests': ['D-21'],
  'input-required-result-multi-round': [],
  'input-required-result-non-tool-request': [],
  'input-required-result-result-type': [],
  'input-required-result-unsupported-methods': [],
  // Any error will do: not D-23.
  'input-required-result-tampered-state': [],
  'input-required-result-capability-check': ['D-22'],
  // These three can only warn: neither D-24 nor D-25.
  'input-required-result-missing-input-response': [],
  'input-required-result-ignore-extra-params': [],
  'input-required-result-validate-input': [],

  'logging-set-level': [],
  'completion-complete': [],
  'resources-list': [],
  'resources-read-text': [],
  'resources-read-binary': [],
  'resources-templates-read': [],
  'resources-subscribe': [],
  'resources-unsubscribe': [],
  'prompts-list': [],
  'prompts-get-simple': [],
  'prompts-get-with-args': [],
  'prompts-get-embedded-resource': [],
  'prompts-get-with-image': [],
  'sep-2164-resource-not-found': [],
  'sep-2640-skills-directory': [],
  'sep-2640-skills-enumeration': [],
  'sep-2640-skills-manifest': [],
};
