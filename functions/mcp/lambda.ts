import { createHandler } from './index.ts';
import type { Manifest, Validators } from './manifest.ts';

// The endpoint as it is deployed. This code is the same for every server: what differs lies beside it, made at synth.
const manifest: Manifest = require(`${__dirname}/manifest.json`);
const validators: Validators = require(`${__dirname}/validators.cjs`);

export const handler = createHandler(manifest, validators);
