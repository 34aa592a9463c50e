import type { Row } from './row.ts';
import { finishRows } from './rows/finish.ts';
import { machineRows } from './rows/machine-run.ts';
import { runRows } from './rows/run.ts';

/** Every state of the tool workflows, every way out of it. */
export const rows: readonly Row[] = [
  ...runRows,
  ...machineRows,
  ...finishRows('tool'),
  ...finishRows('repeatable'),
  ...finishRows('machine'),
];
