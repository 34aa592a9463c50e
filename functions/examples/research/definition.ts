import type { OutputOf } from 'mcp-task-server/tool';

export type ResearchResult = OutputOf<typeof researchTopic.outputSchema>;
/** What was found out about one aspect. */
export type Findings = ResearchResult['aspects'][number];

export const AUDIENCES = ['general reader', 'historian', 'statistician'] as const;
export const FORMATS = ['markdown', 'csv'] as const;

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;

const findings = {
  type: 'object',
  properties: {
    name: { ...text, description: 'The term that leads the aspect, and those it is found with.' },
    entries: { ...count, description: 'Entries on topic and aspect.' },
    terms: {
      type: 'array',
      description: 'What these entries are about, by tf-idf.',
      items: {
        type: 'object',
        properties: { term: text, count, weight: { type: 'number' } },
        required: ['term', 'count', 'weight'],
        additionalProperties: false,
      },
    },
    pairs: {
      type: 'array',
      description: 'Terms found together in a sentence more often than by chance: so many times as often.',
      items: {
        type: 'object',
        properties: { a: text, b: text, sentences: count, lift: { type: 'number' } },
        required: ['a', 'b', 'sentences', 'lift'],
        additionalProperties: false,
      },
    },
    years: {
      type: 'array',
      items: {
        type: 'object',
        properties: { year: count, entries: count },
        required: ['year', 'entries'],
        additionalProperties: false,
      },
    },
    quotes: {
      type: 'array',
      description: 'The most telling entries.',
      items: {
        type: 'object',
        properties: { date: text, text },
        required: ['date', 'text'],
        additionalProperties: false,
      },
    },
  },
  required: ['name', 'entries', 'terms', 'pairs', 'years', 'quotes'],
  additionalProperties: false,
} as const;

/** Apart from the handler, whose module brings the journal along: a CDK app loads only this. */
export const researchTopic = {
  title: 'Research a topic',
  description:
    'Researches a topic in the journal of a lighthouse, 1871 to 1890 (it comes with the server, and is invented). Asks ' +
    'which aspects to go into and for whom, researches them, then asks whether to append a concordance of about 1 MB. ' +
    'Topics it has much on: storm, ice, wreck, birds, herring, lamp, steamers, telegraph.',
  taskSupport: 'optional',
  inputSchema: {
    type: 'object',
    properties: {
      topic: { ...text, minLength: 2, maxLength: 100, description: 'What to look for: one word or a few.' },
      depth: {
        type: 'integer',
        minimum: 1,
        maximum: 3,
        default: 2,
        description: 'How far to go: how many aspects to offer, and how much to find out about each.',
      },
    },
    required: ['topic'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      topic: { ...text, description: 'The terms the topic was looked for by.' },
      audience: { type: 'string', enum: AUDIENCES },
      entries: { ...count, description: 'Entries read.' },
      aspects: { type: 'array', items: findings },
      appendix: {
        type: 'object',
        description: 'The concordance in the embedded resource.',
        properties: { format: { type: 'string', enum: FORMATS }, lines: count },
        required: ['format', 'lines'],
        additionalProperties: false,
      },
    },
    required: ['topic', 'audience', 'entries', 'aspects'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
} as const;
