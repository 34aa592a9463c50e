import { setFlagsFromString } from 'node:v8';

// The `index.js` of a function of the server, beside its `bundle.js`.

// Lambda has started Node with --expose-gc. V8 refuses each cache that was made under other flags: ours, and those of
// Node's own modules that are loaded from here on. `gc` is there already, and the flag does nothing else.
if (globalThis.gc !== undefined) setFlagsFromString('--no-expose-gc');

// Only now, as it loads such modules.
const { load }: typeof import('./load.ts') = require('./load.ts');

export const { handler } = load(__dirname, require);
