import { elicitForm } from 'mcp-task-server/tool';
import { AUDIENCES, FORMATS } from './definition.ts';
import type { Survey } from './survey.ts';

/** Before anything is researched: what of it, and for whom. */
export function askScope({ topic, entries, aspects }: Survey) {
  return elicitForm(
    `The journal writes about ${topic.join(', ')} on ${entries.length} days. Which aspects shall be researched?`,
    {
      aspects: {
        type: 'array',
        title: 'Aspects',
        items: { type: 'string', enum: aspects.map(({ name }) => name) },
        minItems: 1,
      },
      audience: { type: 'string', title: 'For whom', enum: AUDIENCES, default: AUDIENCES[0] },
    },
    ['audience'],
  );
}

/** When the findings are there, and it is known how long the appendix would be. */
export function askAppendix(entries: number, lines: number) {
  return elicitForm(
    `${entries} entries were read. Append their concordance, of ${lines} lines?`,
    {
      append: { type: 'boolean', title: 'Append it' },
      format: { type: 'string', title: 'Format', enum: FORMATS, default: FORMATS[0] },
    },
    ['format'],
  );
}
