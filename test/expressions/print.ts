/**
 * `node test/expressions/print.ts`: prints each case with what jsonata 2.0.6 makes of it, one JSON object a line. An engine in
 * another language evaluates `text` with `$states` bound to `states`, `$parse` to its JSON parser, and `$hash` to SHA-256.
 */
import jsonata from 'jsonata';
import { outcomesOf } from './evaluate.ts';
import { fields } from './fields.ts';

for (const field of fields) {
  const outcomes = await outcomesOf(field, jsonata);
  for (const [n, states] of field.cases.entries()) {
    console.log(JSON.stringify({ name: field.name, text: field.text, states, expected: outcomes[n] }));
  }
}
