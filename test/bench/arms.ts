import { embeddedCloud } from './cloud/report.ts';
import { coldStarts } from './cold-start/report.ts';
import { toolLoad } from './cold-start/tool.ts';
import { cost } from './cost/index.ts';
import { growth } from './growth/index.ts';
import { peers } from './peers/index.ts';
import type { Arm } from './report/row.ts';
import { warm } from './warm/index.ts';

/** By the name that `npm run bench -- NAME` takes, in the order of the page. */
export const arms: Readonly<Record<string, Arm>> = {
  'cold-start': coldStarts,
  tool: toolLoad,
  warm,
  cloud: embeddedCloud,
  peers,
  cost,
  growth,
};
