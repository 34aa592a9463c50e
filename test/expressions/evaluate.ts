import { createHash } from 'node:crypto';
import type jsonata206 from 'jsonata';
import type jsonata22 from 'jsonata-2.2';
import type { Field } from './fields.ts';

export type Engine = typeof jsonata206 | typeof jsonata22;
export type Functions = Readonly<Record<string, Parameters<jsonata206.Expression['registerFunction']>[1]>>;

/** What an expression gives: a value, nothing, or a failure. */
export type Outcome = { readonly value: unknown } | 'nothing' | 'fails';

/** The functions of AWS that expressions here use. */
const AWS: Functions = {
  parse: (json: string) => JSON.parse(json) as unknown,
  hash: (text: string) => createHash('sha256').update(text).digest('hex'),
};

/** What an engine makes of each case of a field. */
export function outcomesOf({ text, cases }: Field, engine: Engine, more: Functions = {}): Promise<Outcome[]> {
  const expression = engine(text);
  for (const [name, run] of Object.entries({ ...AWS, ...more })) expression.registerFunction(name, run);
  const evaluate = async (states: unknown): Promise<Outcome> => {
    try {
      const value: unknown = await expression.evaluate(undefined, { states });
      return value === undefined ? 'nothing' : { value: JSON.parse(JSON.stringify(value)) };
    } catch {
      return 'fails';
    }
  };
  return Promise.all(cases.map(evaluate));
}
