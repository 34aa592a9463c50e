import type { InputRequired, InputResponse } from '../../tool/contract.ts';
import { type Plan, STRATEGIES, type Strategy, stepsOf } from './plan.ts';

const DEFAULT_STRATEGY: Strategy = 'rolling';
const LONGEST_NOTE = 500;

export interface Decision {
  readonly confirmed: boolean;
  /** Why not, when it was not confirmed. */
  readonly reason: string;
  readonly strategy: Strategy;
  readonly note: string | undefined;
}

/** The question of round 1: one flat form, as elicitation allows. */
export function askToConfirm(plan: Plan): InputRequired {
  const requestedSchema = {
    type: 'object',
    properties: {
      confirm: { type: 'boolean', title: 'Deploy now', description: 'Nothing happens unless you say yes.' },
      strategy: {
        type: 'string',
        title: 'Strategy',
        description: 'How the traffic moves to the new version.',
        enum: STRATEGIES,
        default: DEFAULT_STRATEGY,
      },
      note: { type: 'string', title: 'Note', description: 'Kept with the result.', maxLength: LONGEST_NOTE },
    },
    required: ['confirm'],
  };
  const params = { mode: 'form', message: question(plan), requestedSchema };
  return { inputRequests: { confirm: { method: 'elicitation/create', params } }, requestState: plan };
}

function question(plan: Plan): string {
  const steps = stepsOf(plan, DEFAULT_STRATEGY).map(({ title }, index) => `${index + 1}. ${title}`);
  const others = STRATEGIES.filter((strategy) => strategy !== DEFAULT_STRATEGY)
    .map((strategy) => `${strategy} shifts ${plan.stages[strategy].map((percent) => `${percent}%`).join(', ')}`)
    .join('; ');
  return [
    `Deploy ${plan.service} ${plan.version} to ${plan.region}? The plan (${DEFAULT_STRATEGY}):`,
    ...steps,
    `Other strategies move the traffic otherwise: ${others}.`,
  ].join('\n');
}

/** Only an accepted form with `confirm` ticked is a yes. */
export function readDecision(response: InputResponse): Decision {
  const content = (
    response.action === 'accept' && isObject(response.content) ? response.content : {}
  ) as Partial<Answer>;
  const { confirm, strategy, note } = content;
  return {
    confirmed: confirm === true,
    reason: reasonOf(response.action),
    strategy: STRATEGIES.find((known) => known === strategy) ?? DEFAULT_STRATEGY,
    note: typeof note === 'string' && note !== '' ? note.slice(0, LONGEST_NOTE) : undefined,
  };
}

type Answer = Readonly<Record<'confirm' | 'strategy' | 'note', unknown>>;

function reasonOf(action: unknown): string {
  if (action === 'decline') return 'the confirmation was declined';
  return action === 'accept' ? 'it was not confirmed' : 'the confirmation was cancelled';
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
