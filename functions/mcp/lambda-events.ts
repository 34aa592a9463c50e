import { createEvents } from './events/index.ts';
import { createHandler } from './index.ts';
import type { Manifest, Validators } from './manifest.ts';

// The endpoint of a server with MCP Events. Without them, their code is not even loaded.
const manifest: Manifest = require(`${__dirname}/manifest.json`);
const validators: Validators = require(`${__dirname}/validators.cjs`);

export const handler = createHandler(manifest, validators, createEvents);
