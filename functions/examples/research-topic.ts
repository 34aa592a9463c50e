import { defineTool, type Task, ToolError } from 'mcp-task-server/tool';
import { appendix, concordance, type Format } from './research/concordance.ts';
import { type Corpus, type Entry, readCorpus } from './research/corpus.ts';
import { AUDIENCES, type Findings, FORMATS, type ResearchResult, researchTopic } from './research/definition.ts';
import { journal } from './research/journal.ts';
import { askAppendix, askScope } from './research/questions.ts';
import { textOf } from './research/report.ts';
import { study } from './research/study.ts';
import { type Survey, survey } from './research/survey.ts';

/** About 450 KB. */
const LINES_PER_DEPTH = 3_500;

/** Asks what to research, researches it, asks what to append. Each answer starts it from the top: steps are done once. */
export const handler = defineTool(researchTopic, async ({ topic: asked, depth = 2 }, task) => {
  const corpus = readCorpus(journal());
  const found = await task.step('survey', () => survey(corpus, asked, depth));
  const { chosen, audience } = await scope(found, task);
  const aspects = await research(corpus, { ...found, aspects: chosen }, depth, task);

  const read = task.getVariable<number[]>('read') ?? [];
  const lines = concordance(pick(corpus, read), termsOf(found, aspects), LINES_PER_DEPTH * depth);
  const format = await appendixFormat(read.length, lines.length, task);
  const findings: ResearchResult = { topic: found.topic.join(', '), audience, entries: read.length, aspects };
  if (format === undefined) return { content: [textOf(findings)], structuredContent: findings };
  const whole = { ...findings, appendix: { format, lines: lines.length } };
  return { content: [textOf(whole), appendix(lines, format)], structuredContent: whole };
});

const canAsk = (task: Task): boolean => task.accepts.includes('elicitation/create');

/** A client that has no forms gets everything, for anybody. */
async function scope(found: Survey, task: Task) {
  if (!canAsk(task)) return { chosen: found.aspects, audience: AUDIENCES[0] };
  const { scope: answer } = await task.requireInput({ scope: askScope(found) });
  if (answer.action !== 'accept') throw new ToolError('Nothing was researched: nobody said what to go into.');
  const { aspects, audience = AUDIENCES[0] } = answer.content;
  return { chosen: found.aspects.filter(({ name }) => aspects.includes(name)), audience };
}

/** Aspect by aspect; which entries were read on the way is kept for the appendix, which a later round makes. */
async function research(corpus: Corpus, { entries, aspects }: Survey, depth: number, task: Task): Promise<Findings[]> {
  const findings: Findings[] = [];
  for (const [index, aspect] of aspects.entries()) {
    const message = `Researching ${aspect.name} (${index + 1}/${aspects.length})`;
    await task.progress(message, { progress: index, total: aspects.length });
    const found = await task.step(`study ${aspect.lead}`, () => {
      const about = entries.filter((entry) => corpus.entries[entry]?.terms.has(aspect.lead));
      task.setVariable('read', [...new Set([...(task.getVariable<number[]>('read') ?? []), ...about])]);
      return study(corpus, pick(corpus, about), aspect, depth);
    });
    findings.push(found);
  }
  return findings;
}

/** None unless somebody wants it: a megabyte is a lot to read for a model. */
async function appendixFormat(entries: number, lines: number, task: Task): Promise<Format | undefined> {
  if (!canAsk(task)) return undefined;
  const { appendix: answer } = await task.requireInput({ appendix: askAppendix(entries, lines) });
  if (answer.action !== 'accept' || !answer.content.append) return undefined;
  return answer.content.format ?? FORMATS[0];
}

/** The most telling ones first. */
function termsOf({ topic }: Survey, aspects: readonly Findings[]): string[] {
  const weighed = aspects
    .flatMap(({ terms }) => terms)
    .sort((a, b) => b.weight - a.weight || (a.term < b.term ? -1 : 1));
  return [...topic, ...weighed.map(({ term }) => term)];
}

function pick({ entries }: Corpus, indexes: readonly number[]): Entry[] {
  return indexes.flatMap((index) => entries[index] ?? []);
}
