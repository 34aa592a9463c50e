import { elicitForm } from 'mcp-task-server/tool';
import { STRATEGIES, type Strategy } from './definition.ts';
import { type Plan, stepTitles } from './plan.ts';

export const DEFAULT_STRATEGY: Strategy = 'rolling';

/** The question before anything is done: one flat form, as elicitation allows. */
export function confirmation(plan: Plan) {
  return elicitForm(
    question(plan),
    {
      confirm: { type: 'boolean', title: 'Deploy now', description: 'Nothing happens unless you say yes.' },
      strategy: {
        type: 'string',
        title: 'Strategy',
        description: 'How the traffic moves to the new version.',
        enum: STRATEGIES,
        default: DEFAULT_STRATEGY,
      },
      note: { type: 'string', title: 'Note', description: 'Kept with the result.', maxLength: 500 },
    },
    ['strategy', 'note'],
  );
}

function question(plan: Plan): string {
  const others = STRATEGIES.filter((strategy) => strategy !== DEFAULT_STRATEGY)
    .map((strategy) => `${strategy} shifts ${plan.stages[strategy].map((percent) => `${percent}%`).join(', ')}`)
    .join('; ');
  return [
    `Deploy ${plan.service} ${plan.version} to ${plan.region}? The plan (${DEFAULT_STRATEGY}):`,
    ...stepTitles(plan, DEFAULT_STRATEGY).map((title, index) => `${index + 1}. ${title}`),
    `Other strategies: ${others}.`,
  ].join('\n');
}
