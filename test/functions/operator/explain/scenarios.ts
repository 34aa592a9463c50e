import { ENDED_TASKS } from './ended-tasks.ts';
import { OPEN_TASKS } from './open-tasks.ts';
import type { Scenario } from './scenario.ts';

/** What `explanations.txt` explains, in this order. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = { ...OPEN_TASKS, ...ENDED_TASKS };
