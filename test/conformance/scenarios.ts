export type Revision = '2025-11-25' | '2026-07-28';

/** One row of the official suite's server scenarios. */
export interface Scenario {
  readonly name: string;
  /** The wires to judge it on. None for an extension scenario: those are off the runner's timeline and have one wire. */
  readonly revisions: readonly Revision[];
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

const NOT_OFFERED = 'the product offers tools, tasks and their files as resources: no prompts, no completion';
const notOffered: Extra = { baseline: { reason: NOT_OFFERED } };
const linksOnly: Extra = {
  baseline: { reason: 'a resource is a file of a task, by a link that the server makes: the suite reads test:// URIs' },
};
const noChanges: Extra = {
  baseline: { reason: 'files do not change: the server declares no subscriptions of resources' },
};
const noSkills: Extra = { idle: 'the server does not declare the skills extension' };

const scenario = (name: string, revisions: readonly Revision[], extra: Extra = {}): Scenario => {
  return { name, revisions, ...extra };
};

/** Every server scenario of the suite. A test compares this with the runner's own list. */
export const scenarios: readonly Scenario[] = [
  scenario('tasks-lifecycle', extension),
  scenario('tasks-capability-negotiation', extension),
  scenario('tasks-wire-fields', extension),
  scenario('tasks-request-state-removal', extension),
  scenario('tasks-mrtr-input', extension),
  scenario('tasks-request-headers', extension),
  scenario('tasks-dispatch-and-envelope', extension),
  scenario('tasks-required-task-error', extension),
  scenario('http-header-validation', modern),
  scenario('server-initialize', legacy),
  scenario('ping', legacy),
  scenario('tools-list', both),
  scenario('tools-call-simple-text', both),
  scenario('tools-call-error', both),

  scenario('tasks-mrtr-composition', extension),
  scenario('tasks-status-notifications', extension, {
    idle: 'the suite skips it until it is rewritten for listen streams',
  }),
  scenario('server-stateless', modern),
  scenario('server-session-lifecycle', legacy),
  scenario('tools-call-image', both),
  scenario('tools-call-audio', both),
  scenario('tools-call-embedded-resource', both),
  scenario('tools-call-mixed-content', both),
  scenario('tools-call-with-progress', both),
  scenario('tools-call-elicitation', legacy),
  scenario('tools-call-sampling', legacy),
  scenario('elicitation-sep1034-defaults', legacy),
  scenario('elicitation-sep1330-enums', legacy),
  scenario('json-schema-2020-12', both),
  scenario('http-custom-header-server-validation', modern),
  scenario('dns-rebinding-protection', both),
  scenario('caching', modern, {
    baseline: {
      reason: NOT_OFFERED,
      checks: ['sep-2549-prompts-list-caching-hints'],
    },
  }),
  scenario('server-sse-multiple-streams', both),
  scenario('server-sse-polling', legacy),
  scenario('input-required-result-basic-elicitation', modern),
  scenario('input-required-result-basic-sampling', modern),
  scenario('input-required-result-basic-list-roots', modern),
  scenario('input-required-result-request-state', modern),
  scenario('input-required-result-multiple-input-requests', modern),
  scenario('input-required-result-multi-round', modern),
  scenario('input-required-result-missing-input-response', modern),
  scenario('input-required-result-non-tool-request', modern, {
    baseline: { reason: NOT_OFFERED, checks: ['sep-2322-non-tool-incomplete'] },
  }),
  scenario('input-required-result-result-type', modern),
  scenario('input-required-result-unsupported-methods', modern),
  scenario('input-required-result-tampered-state', modern),
  scenario('input-required-result-capability-check', modern),
  scenario('input-required-result-ignore-extra-params', modern),
  scenario('input-required-result-validate-input', modern),
  scenario('sep-2164-resource-not-found', modern),
  scenario('logging-set-level', legacy),
  scenario('tools-call-with-logging', legacy),
  scenario('completion-complete', both, notOffered),
  scenario('resources-list', both),
  scenario('resources-read-text', both, linksOnly),
  scenario('resources-read-binary', both, linksOnly),
  scenario('resources-templates-read', both, linksOnly),
  scenario('resources-subscribe', legacy, noChanges),
  scenario('resources-unsubscribe', legacy, noChanges),
  scenario('prompts-list', both, notOffered),
  scenario('prompts-get-simple', both, notOffered),
  scenario('prompts-get-with-args', both, notOffered),
  scenario('prompts-get-embedded-resource', both, notOffered),
  scenario('prompts-get-with-image', both, notOffered),
  scenario('sep-2640-skills-directory', extension, noSkills),
  scenario('sep-2640-skills-enumeration', extension, noSkills),
  scenario('sep-2640-skills-manifest', extension, noSkills),
];

/** The scenarios called by these names, or all; throws on a name the suite does not know. */
export function select(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return scenarios;
  return names.map((name) => {
    const found = scenarios.find((known) => known.name === name);
    if (found === undefined) throw new Error(`The suite has no server scenario named ${name}`);
    return found;
  });
}
