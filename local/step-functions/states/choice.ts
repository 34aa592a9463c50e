import type { Fields } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { StatesError } from '../errors.ts';
import { type State, scopeOf, type Visit } from '../flow.ts';
import { refuse } from '../place.ts';
import { type Exit, loadExit } from './exit.ts';
import { loadValue } from './value.ts';

interface Rule {
  matches(visit: Visit): Promise<boolean>;
  exit: Exit;
}

/** Loads a Choice. Output and Assign of the state apply to Default; each rule has its own. */
export function loadChoice(fields: Fields, loader: Loader): State['visit'] {
  const rules = fields.list('Choices').map((rule) => loadRule(rule, loader));
  if (rules.length === 0) refuse(fields.at('Choices'), 'needs at least one rule');
  const otherwise = fields.has('Default') ? loadExit(fields, loader, loader.target(fields, 'Default')) : undefined;
  return async (visit) => {
    for (const rule of rules) if (await rule.matches(visit)) return rule.exit(visit, visit.input);
    if (otherwise !== undefined) return otherwise(visit, visit.input);
    throw new StatesError(
      'States.NoChoiceMatched',
      `${scopeOf(visit).during} No choice matched and there is no Default.`,
    );
  };
}

function loadRule(fields: Fields, loader: Loader): Rule {
  fields.take('Comment');
  const matches = loadValue(fields, loader, 'Condition', isBoolean, 'a boolean');
  if (matches === undefined) return refuse(fields.at('Condition'), 'must be a boolean, or a JSONata expression');
  const exit = loadExit(fields, loader, loader.target(fields, 'Next'));
  fields.close();
  return { exit, matches };
}

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
