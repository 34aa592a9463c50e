import { expect, test } from 'vitest';
import { type About, answeredPage, overPage, questionPage } from '../../../functions/signals/page/pages.ts';
import { linkOf, T0 } from './support.ts';

const wait = linkOf({ age: { type: 'integer', title: 'Age' }, note: { type: 'string' } }) as About['wait'];
const about: About = { server: 'Shop', titles: { buy: 'Buy things' }, tool: 'buy', wait };
const titleOf = (page: string) => /<title>([^<]*)<\/title>/.exec(page)?.[1];
const between = (page: string, from: string, to: string) => page.split(from)[1]?.split(to)[0];
const nameField = (page: string) => between(page, '<input class="text" type="text" id="by" name="by"', '</div>');
const summaryOf = (page: string) => between(page, 'check your answer:</p><ul>', '</ul>');

test('the title of a page says what it is about, and how that ended', () => {
  expect(titleOf(questionPage(about))).toBe('Buy things');
  expect(titleOf(questionPage({ ...about, titles: {} }))).toBe('buy');
  expect(titleOf(questionPage(about, { typed: new Map(), problems: { fields: {} } }))).toBe('Please check: Buy things');
  expect(titleOf(overPage(about))).toBe('Over: Buy things');
  for (const [action, word] of [
    ['accept', 'Accepted'],
    ['decline', 'Declined'],
    ['cancel', 'Dismissed'],
  ] as const) {
    const page = answeredPage(about, { action, at: T0 });
    expect([titleOf(page), between(page, '<p><strong>', ' on <time')]).toEqual([
      `${word}: Buy things`,
      `${word}</strong>`,
    ]);
  }
});

test('the name is empty at first, and shown again with what is wrong with it', () => {
  const first = questionPage(about);
  expect(nameField(first)).toBe(' autocomplete="name" value="" aria-describedby="by-hint">');
  expect(first).not.toContain('class="summary"');
  const again = questionPage(about, { typed: new Map([['by', ['Ann']]]), problems: { fields: {}, by: 'Too long' } });
  expect(nameField(again)).toBe(
    ' autocomplete="name" value="Ann" aria-describedby="by-hint by-error" aria-invalid="true"><p class="wrong" id="by-error">Too long</p>',
  );
});

test('the summary links what is wrong, and nothing else', () => {
  const page = (problems: object) => questionPage(about, { typed: new Map(), problems: { fields: {}, ...problems } });
  const age = '<li><a href="#f0">Age</a>: No number</li>';
  const by = '<li><a href="#by">Your name</a>: Too long</li>';
  expect(summaryOf(page({ fields: { age: 'No number' } }))).toBe(age);
  expect(summaryOf(page({ by: 'Too long' }))).toBe(by);
  expect(summaryOf(page({ answer: 'No action' }))).toBe('<li>No action</li>');
  const all = { fields: { age: 'No number' }, by: 'Too long', answer: 'No action' };
  expect(summaryOf(page(all))).toBe(`${age}${by}<li>No action</li>`);
});

test('an answer without a name names no one', () => {
  expect(answeredPage(about, { action: 'accept', at: T0 })).not.toContain('<bdi>');
  expect(answeredPage(about, { action: 'accept', by: 'Ann', at: T0 })).toContain(' by <bdi>Ann</bdi> on ');
});
