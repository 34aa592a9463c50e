import { createIam } from '../../iam/index.ts';
import { readTopics } from '../../sns/resources.ts';
import type { CheckApp } from '../../template/app.ts';
import { readConnections } from '../../template/connections.ts';
import { readFunctionUrls } from '../../template/functions.ts';
import { about, placeOf } from '../../template/resources.ts';
import { loadMachine } from '../machine/machine.ts';
import { INTEGRATIONS } from './catalog.ts';

/** Refuses what the engines would refuse at their start. */
export const checkKnown: CheckApp = ({ stacks, specs }) => {
  createIam(stacks, specs, placeOf(stacks));
  readConnections(stacks);
  readFunctionUrls(stacks);
  readTopics(stacks);
  for (const machine of specs.machines) about(machine, () => loadMachine(machine, new Set(INTEGRATIONS)));
};
