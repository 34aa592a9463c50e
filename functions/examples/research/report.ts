import type { Findings, ResearchResult } from './definition.ts';

/** The findings as people read them; how much of the numbers they see depends on who they are. */
export function textOf({ topic, audience, entries, aspects, appendix }: ResearchResult) {
  const text = [
    `# ${topic}, in the journal of the light`,
    `For a ${audience}: ${aspects.length} ${aspects.length === 1 ? 'aspect' : 'aspects'}, from ${entries} entries.`,
    ...aspects.map((findings) => section(findings, audience)),
    ...(appendix === undefined ? [] : [`The concordance (${appendix.lines} lines, ${appendix.format}) is appended.`]),
  ].join('\n\n');
  return { type: 'text', text };
}

type Row = readonly (string | number)[];

function section(findings: Findings, audience: ResearchResult['audience']): string {
  const { name, entries, terms, pairs, years, quotes } = findings;
  const busiest = years.toSorted((a, b) => b.entries - a.entries || a.year - b.year).slice(0, 3);
  const about = terms.slice(0, 8).map(({ term }) => term);
  const parts = [
    `## ${name}`,
    `On ${entries} days, most often in ${listed(busiest.map(({ year }) => year))}. It is about ${listed(about)}.`,
  ];
  if (audience !== 'statistician') parts.push(...quotes.map(({ date, text }) => `> ${date} ${text}`));
  if (audience === 'historian') {
    const rows = years.map((row) => [row.year, row.entries]);
    parts.push(table(['year', 'entries'], rows));
  }
  if (audience === 'statistician') {
    const together = pairs.map(({ a, b, sentences, lift }) => [`${a} + ${b}`, sentences, lift]);
    const weighed = terms.map(({ term, count, weight }) => [term, count, weight]);
    parts.push(table(['term', 'count', 'tf-idf'], weighed), table(['pair', 'sentences', 'lift'], together));
  }
  return parts.join('\n\n');
}

const listed = (items: Row): string => items.join(', ');

function table(head: Row, rows: readonly Row[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
