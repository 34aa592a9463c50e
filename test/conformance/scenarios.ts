export type Revision = '2025-11-25' | '2026-07-28';

/** One row of the official suite's server scenarios. */
export interface Scenario {
  readonly name: string;
  /** The wires to judge it on. None for an extension scenario: those are off the runner's timeline and have one wire. */
  readonly revisions: readonly Revision[];
  /** Runs when no scenario is named on the command line, and so gates a change. */
  readonly gate: boolean;
  /** Failing checks we live with, and why. A row that no longer fails this way fails the run, so it cannot rot. */
  readonly baseline?: Baseline;
  /** Why a run in which no check is executed is all right here. */
  readonly idle?: string;
}

export interface Baseline {
  readonly reason: string;
  /** Ids of the checks that may fail. @default the one that has the scenario's name */
  readonly checks?: readonly string[];
}

type Extra = Partial<Pick<Scenario, 'baseline' | 'idle'>>;

const both: readonly Revision[] = ['2025-11-25', '2026-07-28'];
const legacy: readonly Revision[] = ['2025-11-25'];
const modern: readonly Revision[] = ['2026-07-28'];
const extension: readonly Revision[] = [];

const NOT_OFFERED = 'the product offers tools and tasks: no prompts, resources, completions or logging';
const notOffered: Extra = { baseline: { reason: NOT_OFFERED } };
const noSkills: Extra = { idle: 'the server does not declare the skills extension' };

const gated = (name: string, revisions: readonly Revision[], extra: Extra = {}): Scenario => {
  return { name, revisions, gate: true, ...extra };
};
const later = (name: string, revisions: readonly Revision[], extra: Extra = {}): Scenario => {
  return { name, revisions, gate: false, ...extra };
};

/** Every server scenario of the suite, so that nobody overlooks one; a test compares this with the runner's own list. */
export const scenarios: readonly Scenario[] = [
  gated('tasks-lifecycle', extension),
  gated('tasks-capability-negotiation', extension),
  gated('tasks-wire-fields', extension),
  gated('tasks-request-state-removal', extension),
  gated('tasks-mrtr-input', extension),
  gated('tasks-request-headers', extension),
  gated('tasks-dispatch-and-envelope', extension),
  gated('tasks-required-task-error', extension),
  gated('http-header-validation', modern),
  gated('server-initialize', legacy),
  gated('ping', legacy),
  gated('tools-list', both),
  gated('tools-call-simple-text', both),
  gated('tools-call-error', both),

  later('tasks-mrtr-composition', extension),
  later('tasks-status-notifications', extension, {
    idle: 'the suite skips it until it is rewritten for listen streams',
  }),
  later('server-stateless', modern),
  later('server-session-lifecycle', legacy),
  later('tools-call-image', both),
  later('tools-call-audio', both),
  later('tools-call-embedded-resource', both),
  later('tools-call-mixed-content', both),
  later('tools-call-with-progress', both),
  later('tools-call-elicitation', legacy),
  later('tools-call-sampling', legacy),
  later('elicitation-sep1034-defaults', legacy),
  later('elicitation-sep1330-enums', legacy),
  later('json-schema-2020-12', both),
  later('http-custom-header-server-validation', modern),
  later('dns-rebinding-protection', both),
  later('caching', modern, {
    baseline: {
      reason: NOT_OFFERED,
      checks: [
        'sep-2549-prompts-list-caching-hints',
        'sep-2549-resources-list-caching-hints',
        'sep-2549-resources-templates-list-caching-hints',
      ],
    },
  }),
  later('server-sse-multiple-streams', both),
  later('server-sse-polling', legacy, { idle: 'a direct call is answered with JSON: there is no stream to poll' }),
  later('input-required-result-basic-elicitation', modern),
  later('input-required-result-basic-sampling', modern),
  later('input-required-result-basic-list-roots', modern),
  later('input-required-result-request-state', modern),
  later('input-required-result-multiple-input-requests', modern),
  later('input-required-result-multi-round', modern),
  later('input-required-result-missing-input-response', modern),
  later('input-required-result-non-tool-request', modern, {
    baseline: { reason: NOT_OFFERED, checks: ['sep-2322-non-tool-incomplete'] },
  }),
  later('input-required-result-result-type', modern),
  later('input-required-result-unsupported-methods', modern),
  later('input-required-result-tampered-state', modern),
  later('input-required-result-capability-check', modern),
  later('input-required-result-ignore-extra-params', modern),
  later('input-required-result-validate-input', modern),
  later('sep-2164-resource-not-found', modern),
  later('logging-set-level', legacy, notOffered),
  later('tools-call-with-logging', legacy, notOffered),
  later('completion-complete', both, notOffered),
  later('resources-list', both, notOffered),
  later('resources-read-text', both, notOffered),
  later('resources-read-binary', both, notOffered),
  later('resources-templates-read', both, notOffered),
  later('resources-subscribe', legacy, notOffered),
  later('resources-unsubscribe', legacy, notOffered),
  later('prompts-list', both, notOffered),
  later('prompts-get-simple', both, notOffered),
  later('prompts-get-with-args', both, notOffered),
  later('prompts-get-embedded-resource', both, notOffered),
  later('prompts-get-with-image', both, notOffered),
  later('sep-2640-skills-directory', extension, noSkills),
  later('sep-2640-skills-enumeration', extension, noSkills),
  later('sep-2640-skills-manifest', extension, noSkills),
];

/** The scenarios called by these names, or the gating ones; throws on a name the suite does not know. */
export function select(names: readonly string[], all = false): readonly Scenario[] {
  if (names.length === 0) return scenarios.filter((scenario) => all || scenario.gate);
  return names.map((name) => {
    const found = scenarios.find((scenario) => scenario.name === name);
    if (found === undefined) throw new Error(`The suite has no server scenario named ${name}`);
    return found;
  });
}
