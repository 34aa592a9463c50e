import { embeddedCloud } from './cloud/report.ts';
import { coldStarts } from './cold-start/report.ts';
import { cost } from './cost/index.ts';
import { deliveries } from './deliveries/report.ts';
import type { Arm } from './report/row.ts';

/** By the name that `npm run bench -- NAME` takes, in the order of the page. */
export const arms: Readonly<Record<string, Arm>> = {
  'cold-start': coldStarts,
  cloud: embeddedCloud,
  deliveries,
  cost,
};
