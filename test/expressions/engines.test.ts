import jsonata206 from 'jsonata';
import jsonata22 from 'jsonata-2.2';
import { describe, expect, test } from 'vitest';
import { cases } from './cases.ts';

/**
 * The expressions give the same in two versions of the reference implementation: 2.0.6, which AWS runs, and the newest.
 * `node test/expressions/print.ts` prints the cases for engines in other languages. On 2026-11-22 jsonata-python 0.7.1 gave
 * the same in 75 of 75 cases, and com.dashjoin:jsonata 0.9.10 (Java) in 74: it writes 5e-324 as 4.94065645841247e-324.
 */
type Engine = typeof jsonata206 | typeof jsonata22;

async function evaluate(engine: Engine, text: string, states: unknown): Promise<unknown> {
  const expression = engine(text);
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
  const value: unknown = await expression.evaluate(undefined, { states });
  return value === undefined ? 'undefined' : JSON.parse(JSON.stringify(value));
}

describe('jsonata 2.0.6 and 2.2 agree', () => {
  test.each(cases)('$title', async ({ text, states }) => {
    const expected = await evaluate(jsonata206, text, states);
    expect(expected).not.toBe('undefined');
    expect(await evaluate(jsonata22, text, states)).toEqual(expected);
  });
});
