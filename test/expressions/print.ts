/**
 * `node test/expressions/print.ts`: prints each case with what jsonata 2.0.6 makes of it, one JSON object a line. An engine in
 * another language evaluates `text` with `$states` bound to `states`, and `$parse` to its JSON parser.
 */
import jsonata from 'jsonata';
import { cases } from './cases.ts';

for (const { title, text, states } of cases) {
  const expression = jsonata(text);
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
  const expected: unknown = await expression.evaluate(undefined, { states });
  console.log(JSON.stringify({ title, text, states, expected }));
}
