import { createHandler } from './index.ts';

// The reconciler as it is deployed, with the files that synth puts beside it.
const machines: Readonly<Record<string, string>> = require(`${__dirname}/machines.json`);
const stateMachines: Readonly<Record<string, number>> = require(`${__dirname}/state-machines.json`);
const express: readonly string[] = require(`${__dirname}/express.json`);
const repeatable: readonly string[] = require(`${__dirname}/repeatable.json`);

export const handler = createHandler(machines, stateMachines, express, repeatable);
