import { expect, test } from 'vitest';
import { explanationText } from '../../../../bin/tasks/print-explanation.ts';
import { listText } from '../../../../bin/tasks/print-list.ts';
import { logsText } from '../../../../bin/tasks/print-logs.ts';
import { storyText } from '../../../../bin/tasks/print-story.ts';
import { span } from '../../../../bin/tasks/text.ts';
import { EXPLANATIONS, LISTS, LOGS, NOW, STORIES } from './printed.ts';

/** Each text below its title, with a dot for each blank at the end of a line: no text should have one. */
const texts = <T>(verb: string, all: Readonly<Record<string, T>>, textOf: (value: T) => string): string[] =>
  Object.entries(all).map(([title, value]) => `# ${verb}: ${title}\n${textOf(value).replaceAll(/ $/gm, '·')}`);

/** A change that is meant is written to the file by `npm test -- test/bin/tasks/in-memory --update`. */
test('the verbs that read print what printed.txt says', async () => {
  const all = [
    ...texts('show', STORIES, (story) => storyText(story, NOW)),
    ...texts('explain', EXPLANATIONS, (explanation) => explanationText(explanation, NOW)),
    ...texts('list', LISTS, (page) => listText(page, NOW)),
    ...texts('logs', LOGS, logsText),
  ];
  await expect(`${all.join('\n\n')}\n`).toMatchFileSnapshot('printed.txt');
});

test.each([
  [0, '0 s'],
  [499, '0 s'],
  [-1_499, '1 s'],
  [60_000, '1 m'],
  [200_000, '3 m 20 s'],
  [3_600_000, '1 h'],
  [86_399_000, '23 h 59 m'],
  [90_061_000, '1 d 1 h'],
  [86_401_000, '1 d 1 s'],
])('%i ms are %s: the two largest units that are not 0', (ms, text) => {
  expect(span(ms)).toBe(text);
});
