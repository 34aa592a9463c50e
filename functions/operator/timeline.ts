import { isTerminal } from '../tasks/transitions/change.ts';
import type { Moment } from './moments.ts';
import type { Attempt, RunFacts } from './runs.ts';
import type { Story } from './show.ts';
import { byState, type StateVisit, type Try } from './states.ts';

/** What a task waits for: a person's answer, the clock, AWS and the server, or its tool. */
export type Waiting = 'people' | 'clock' | 'aws' | 'tool';

/** Times in ms since the epoch. */
export interface Span {
  readonly waiting: Waiting;
  readonly from: number;
  readonly to: number;
  /** The name of the error that ended it. */
  readonly error?: string;
}

/** The spans of one round, of one wait for an answer or for the clock, or of the visits to one state of a state machine that is a tool. */
export interface Lane {
  readonly round: number;
  readonly kind: 'round' | 'question' | 'wait' | 'state';
  /** The name of the state. */
  readonly name?: string;
  /** How often the round was in that state. */
  readonly visits?: number;
  readonly spans: readonly Span[];
}

/**
 * Where the time of a task went, from its creation to its end, or until now. The spans of rounds and questions do not overlap.
 * The spans of states show what a round did: its branches may overlap.
 */
export interface Timeline {
  readonly from: number;
  readonly to: number;
  readonly open: boolean;
  readonly lanes: readonly Lane[];
  /** In ms. */
  readonly totals: Readonly<Record<Waiting, number>>;
}

type TaskStory = Pick<
  Story,
  'status' | 'seenAs' | 'round' | 'createdAt' | 'updatedAt' | 'deadlineAt' | 'happened' | 'runs'
>;

/**
 * From the events of the record and the histories of its runs. The clocks of AWS differ by some ms: no span begins before
 * the one before it ends. A round of which nothing is known any more has no lane: its time counts as AWS's.
 */
export function timelineOf(story: TaskStory, now: number): Timeline {
  const { round, createdAt } = story;
  const open = !isTerminal(story.status) && story.seenAs === undefined;
  const to = Math.max(createdAt, endOf(story, open, now));
  const lanes: Lane[] = [];
  let reached = createdAt;
  for (let n = 1; n <= round; n++) {
    const spans: Span[] = [];
    const until = (at: number, waiting: Waiting, error?: string) => {
      const end = Math.min(at, to);
      if (end <= reached) return;
      spans.push({ waiting, from: reached, to: end, ...(error !== undefined && { error }) });
      reached = end;
    };
    const started = startOf(story, n);
    if (started === undefined && n < round) continue;
    const [asked, waits] = [momentOf(story, n, 'asked'), momentOf(story, n, 'waits')];
    const next = startOf(story, n + 1) ?? to;
    const ended = asked ?? waits ?? next;
    const run = story.runs.find((one) => one.round === n);
    for (const { from, to: over = ended, error } of attemptsOf(run, started, ended)) {
      until(from, 'aws');
      until(Math.min(over, ended), 'tool', error);
    }
    until(ended, 'aws');
    if (spans.length > 0) lanes.push({ round: n, kind: 'round', spans: spans.splice(0) });
    lanes.push(...stateLanes(n, run?.visits ?? [], Math.min(ended, to)));
    if (asked !== undefined) {
      until(answeredAt(story, n) ?? next, 'people');
      if (spans.length > 0) lanes.push({ round: n, kind: 'question', spans: spans.splice(0) });
    }
    if (waits === undefined) continue;
    until(momentOf(story, n, 'resumed') ?? next, 'clock');
    if (spans.length > 0) lanes.push({ round: n, kind: 'wait', spans });
  }
  return { from: createdAt, to, open, lanes, totals: totalsOf(lanes) };
}

/** States of one round that are shown, and spans of one state: the latest ones. */
const [STATES, SPANS] = [30, 200];

function stateLanes(round: number, visits: readonly StateVisit[], until: number): Lane[] {
  const lanes = byState(visits).map(({ name, visits: all }): Lane => {
    const spans = all.flatMap((visit) => spansOf(visit, until)).slice(-SPANS);
    return { round, kind: 'state', name, visits: all.length, spans };
  });
  return lanes.filter(({ spans }) => spans.length > 0).slice(-STATES);
}

/** Before, between and after its tries a state waits for AWS. */
function spansOf({ from, to = Number.POSITIVE_INFINITY, tries }: StateVisit, until: number): Span[] {
  const end = Math.min(to, until);
  const parts = tries.length === 0 ? [{ from, to: end }] : tries;
  const spans: Span[] = [];
  let reached = from;
  const add = (waiting: Waiting, at: number, error?: string) => {
    const next = Math.min(at, end);
    // A failure that took no time is still one.
    if (next > reached || error !== undefined)
      spans.push({ waiting, from: reached, to: Math.max(reached, next), ...(error !== undefined && { error }) });
    reached = Math.max(reached, next);
  };
  for (const { from: begin, to: over = end, error } of parts as readonly Try[]) {
    add('aws', begin);
    add('tool', over, error);
  }
  add('aws', end);
  return spans;
}

function endOf({ status, updatedAt, deadlineAt, happened }: TaskStory, open: boolean, now: number): number {
  if (open) return now;
  if (!isTerminal(status)) return Math.min(deadlineAt, now);
  return happened.findLast(({ what }) => what === status)?.at ?? updatedAt;
}

/** When the workflow of a round began: as Step Functions says, or the event that the workflow wrote. */
function startOf({ runs, happened }: TaskStory, round: number): number | undefined {
  const run = runs.find((one) => one.round === round)?.startedAt;
  const isOf = (moment: Moment) => (moment.round ?? 1) === round && moment.startedAt !== undefined;
  return run ?? happened.find(isOf)?.startedAt;
}

const momentOf = ({ happened }: TaskStory, round: number, what: string): number | undefined =>
  happened.find((moment) => moment.what === what && (moment.round ?? 1) === round)?.at;

/** The last of the answers to what a round asked. */
const answeredAt = ({ happened }: TaskStory, round: number): number | undefined =>
  happened.findLast((moment) => moment.what === 'answered' && (moment.round ?? 1) === round)?.at;

/** Without a history the whole run counts as one attempt. */
function attemptsOf(
  run: RunFacts | undefined,
  started: number | undefined,
  ended: number,
): readonly (Attempt & { readonly error?: string })[] {
  const known = run?.attempts ?? (started === undefined ? [] : [{ from: started, to: run?.stoppedAt ?? ended }]);
  return known.map((attempt) => {
    const error = run?.failures.find(({ at }) => at === attempt.to)?.error;
    return { ...attempt, ...(error !== undefined && { error }) };
  });
}

function totalsOf(lanes: readonly Lane[]): Record<Waiting, number> {
  const totals = { people: 0, clock: 0, aws: 0, tool: 0 };
  for (const { waiting, from, to } of lanes.filter(({ kind }) => kind !== 'state').flatMap(({ spans }) => spans))
    totals[waiting] += to - from;
  return totals;
}
