import type { Shown } from './context.ts';
import { createHandler } from './index.ts';

// What differs between servers lies beside the code, made at synth.
const shown: Shown = require(`${__dirname}/shown.json`);

export const handler = createHandler(shown);
