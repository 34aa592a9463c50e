import { digits } from '../report/page.ts';
import type { Arm } from '../report/row.ts';
import { coldStart, type Row } from './index.ts';

/** Cold starts of the endpoint, beside an empty handler and the official SDK. */
export const coldStarts: Arm = {
  title: 'Cold start of the endpoint',
  about:
    'Each sample is a new process with the flags of Node that Lambda sets: it loads the function, then answers a first ' +
    'discover, a first create and a first poll. AWS answers at once, on 127.0.0.1. In brackets the processor time of the ' +
    'main thread, which a busy machine changes less.',
  async run() {
    return (await coldStart()).map(lineOf);
  },
};

function lineOf({ arm, step, base, median, ratio, spread: [low, high], pairs, cpu }: Row) {
  return {
    what: `${arm}: ${step}`,
    measured: `${digits(median)} ms (${digits(cpu.median)} ms; ${digits(cpu.ratio)} ×)`,
    ratio: { median: ratio, low, high, pairs, to: base },
  };
}
