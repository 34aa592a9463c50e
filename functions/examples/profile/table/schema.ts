const count = { type: 'integer', minimum: 0 } as const;
const number = { type: 'number' } as const;

const interval = {
  type: 'object',
  description: '95 % confidence interval, by bootstrap.',
  properties: { low: number, high: number },
  required: ['low', 'high'],
  additionalProperties: false,
} as const;

const columnProfile = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Long names are cut.' },
    type: {
      type: 'string',
      enum: ['empty', 'integer', 'number', 'boolean', 'date', 'string'],
      description: 'The narrowest type that at least 95 % of the values fit.',
    },
    count: { ...count, description: 'Cells with a value.' },
    missing: { ...count, description: 'Cells that are empty, NA, N/A, null or NaN.' },
    invalid: { ...count, description: 'Values that do not fit the type; the statistics leave them out.' },
    distinct: { ...count, description: 'Different values.' },
    distinctExact: { type: 'boolean', description: 'False: there are more than `distinct`.' },
    min: number,
    max: number,
    mean: number,
    stddev: { type: 'number', minimum: 0, description: 'Sample standard deviation.' },
    quantiles: {
      type: 'object',
      properties: { p05: number, p25: number, p50: number, p75: number, p95: number },
      required: ['p05', 'p25', 'p50', 'p75', 'p95'],
      additionalProperties: false,
    },
    meanInterval: interval,
    medianInterval: interval,
    earliest: { type: 'string', description: 'ISO 8601 date or date-time, UTC.' },
    latest: { type: 'string', description: 'ISO 8601 date or date-time, UTC.' },
    shortest: { ...count, description: 'Characters of the shortest text.' },
    longest: { ...count, description: 'Characters of the longest text.' },
    topValues: {
      type: 'array',
      description: 'The most frequent values.',
      items: {
        type: 'object',
        properties: { value: { type: 'string' }, count },
        required: ['value', 'count'],
        additionalProperties: false,
      },
    },
  },
  required: ['name', 'type', 'count', 'missing', 'invalid', 'distinct', 'distinctExact'],
  additionalProperties: false,
} as const;

const coefficient = { type: 'number', minimum: -1, maximum: 1 } as const;

const correlation = {
  type: 'object',
  properties: {
    a: { type: 'string' },
    b: { type: 'string' },
    rows: { ...count, description: 'Rows where both columns have a number.' },
    pearson: { ...coefficient, description: 'Linear correlation.' },
    spearman: { ...coefficient, description: 'Rank correlation.' },
  },
  required: ['a', 'b', 'rows', 'pearson', 'spearman'],
  additionalProperties: false,
} as const;

/** The structured content of `profile_dataset`. */
export const profileSchema = {
  type: 'object',
  properties: {
    source: { type: 'string', description: 'What was profiled.' },
    rows: { ...count, description: 'Rows below the header.' },
    columns: { type: 'array', items: columnProfile },
    correlations: { type: 'array', items: correlation, description: 'Of numeric columns, strongest first.' },
    bootstrap: { ...count, description: 'Resamples behind the confidence intervals.' },
    notes: { type: 'array', items: { type: 'string' }, description: 'What was left out, and why.' },
  },
  required: ['source', 'rows', 'columns', 'correlations', 'bootstrap', 'notes'],
  additionalProperties: false,
} as const;
