import type { Findings, ResearchResult } from './definition.ts';

/** The findings as people read them; how much of the numbers they see depends on who they are. */
export function reportText({ topic, audience, entries, aspects, appendix }: ResearchResult): string {
  return [
    `# ${topic}, in the journal of the light`,
    `For a ${audience}: ${aspects.length} aspects, from ${entries} entries.`,
    ...aspects.map((findings) => section(findings, audience)),
    ...(appendix === undefined ? [] : [`The concordance (${appendix.lines} lines, ${appendix.format}) is appended.`]),
  ].join('\n\n');
}

function section(
  { name, entries, terms, pairs, years, quotes }: Findings,
  audience: ResearchResult['audience'],
): string {
  const busiest = years.toSorted((a, b) => b.entries - a.entries || a.year - b.year).slice(0, 3);
  const parts = [
    `## ${name}`,
    `On ${entries} days, most often in ${busiest.map(({ year }) => year).join(', ')}. ` +
      `It is about ${terms
        .slice(0, 8)
        .map(({ term }) => term)
        .join(', ')}.`,
  ];
  if (audience !== 'statistician') parts.push(...quotes.map(({ date, text }) => `> ${date} ${text}`));
  if (audience === 'historian')
    parts.push(
      table(
        ['year', 'entries'],
        years.map((row) => [row.year, row.entries]),
      ),
    );
  if (audience === 'statistician') {
    parts.push(
      table(
        ['term', 'count', 'tf-idf'],
        terms.map((row) => [row.term, row.count, row.weight]),
      ),
    );
    parts.push(
      table(
        ['pair', 'sentences', 'lift'],
        pairs.map((row) => [`${row.a} + ${row.b}`, row.sentences, row.lift]),
      ),
    );
  }
  return parts.join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
