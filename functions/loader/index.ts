import { load } from './load.ts';

// The `index.js` of a function of the server, beside its `bundle.js`.
export const { handler } = load(__dirname, require);
