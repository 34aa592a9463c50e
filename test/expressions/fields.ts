import { readFileSync } from 'node:fs';
import { ENGINE_NAMES } from '../../functions/tasks/engines.ts';
import { definition } from '../../lib/workflow/definition.ts';
import { NOW, pools } from './values.ts';

/** A field of a definition that is deployed, with an expression that no field before it has. */
export interface Field {
  readonly name: string;
  /** With CloudFormation's substitutions made. */
  readonly text: string;
  /** Values of `$states`: each value of each member that the text reads, beside the plain values of the others. */
  readonly cases: readonly Readonly<Record<string, unknown>>[];
}

const SUBSTITUTIONS: Readonly<Record<string, string>> = {
  Functions: "{'x': 'arn:aws:lambda:eu-west-1:1:function:x', 'é': 'arn:é', 'constructor': 'arn:c'}",
  StateMachines: "{'x': 'arn:aws:states:eu-west-1:1:stateMachine:x', 'é': 'arn:é', 'constructor': 'arn:c'}",
  RepeatableTools: "['x']",
  TableName: 'tasks',
  ResultsBucket: 'results',
  SignalsUrl: 'https://example.com/v1/signals',
  MaxTtl: '604800000',
};
/** Engines bind the first to the time of their evaluation, and draw the others. */
const DRAWN = { '$millis()': String(NOW), '$random()': '0.7', '$uuid()': '"6f8e9a0b-1c2d-4e3f-8a5b-6c7d8e9f0a1b"' };

const EXAMPLE = readFileSync(new URL('../../functions/examples/inspect-regions.asl.json', import.meta.url), 'utf8');
const definitions = [
  ...ENGINE_NAMES.map((engine) => [engine, definition(engine)] as const),
  ['example', EXAMPLE] as const,
];

export const fields: readonly Field[] = definitions
  .flatMap(([name, text]) => expressionsOf(JSON.parse(text), [], name))
  .filter(({ text }, at, all) => all.findIndex((other) => other.text === text) === at);

export const count = fields.reduce((sum, { cases }) => sum + cases.length, 0);

function expressionsOf(value: unknown, keys: readonly string[], definitionName: string): Field[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => expressionsOf(inner, [...keys, key], definitionName));
  }
  if (typeof value !== 'string' || !value.startsWith('{%')) return [];
  const filled = value.slice(2, -2).replace(/\$\{(\w+)\}/g, (_, name: string) => SUBSTITUTIONS[name] ?? '?');
  const text = Object.entries(DRAWN).reduce((drawn, [call, constant]) => drawn.replaceAll(call, constant), filled);
  return [{ name: `${definitionName}: ${keys.slice(-4).join('/')}`, text, cases: casesOf(text) }];
}

function casesOf(text: string): Field['cases'] {
  const read = pools.flatMap(([reads, values]) => {
    const member = reads.exec(text)?.[1];
    return member === undefined ? [] : [{ member, values }];
  });
  const plain: Record<string, unknown> = {};
  for (const { member, values } of read) plain[member] ??= values[0];
  return read.flatMap(({ member, values }) => values.map((value) => ({ ...plain, [member]: value })));
}
