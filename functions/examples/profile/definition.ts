import type { ArgumentsOf, OutputOf } from 'mcp-task-server/tool';
import { profileSchema } from './table/schema.ts';

export type ProfileArguments = ArgumentsOf<typeof profileDataset.inputSchema>;
export type ProfileResult = OutputOf<typeof profileSchema>;
/** What the result says of one column. */
export type ColumnResult = ProfileResult['columns'][number];

/** Apart from the handler, whose module brings the sample along: a CDK app loads only this. */
export const profileDataset = {
  title: 'Profile a dataset',
  description:
    'Profiles a CSV (some 100,000 rows): for each column its type, missing and distinct values, quantiles, mean and ' +
    'median with confidence intervals, frequent values; and how numeric columns correlate. Send exactly one of `csv`, ' +
    '`sample` or `url`. Takes seconds to minutes and reports its progress, so call it as a task if you can.',
  taskSupport: 'optional',
  inputSchema: {
    type: 'object',
    properties: {
      csv: {
        type: 'string',
        minLength: 1,
        maxLength: 200_000,
        description: 'The CSV itself, first row = column names. Up to 200 KB; for more, use `url`.',
      },
      sample: {
        type: 'string',
        enum: ['orders'],
        description: 'A dataset that comes with the server. orders: a year of a web shop, 100,000 rows.',
      },
      url: {
        type: 'string',
        minLength: 1,
        maxLength: 2_000,
        description: 'Public https address of a CSV in UTF-8, gzipped or not, up to 50 MB.',
      },
      delimiter: {
        type: 'string',
        minLength: 1,
        maxLength: 1,
        pattern: '^[^"\\r\\n]$',
        description: 'What separates fields. Default: whichever of , ; tab | splits the first row most often.',
      },
      columns: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: 200,
        uniqueItems: true,
        description: 'Names of the columns to profile. Default: all, at most 200.',
      },
      bootstrap: {
        type: 'integer',
        minimum: 0,
        maximum: 1_000,
        default: 500,
        description: 'Resamples behind the confidence intervals; more take longer, 0 leaves the intervals out.',
      },
    },
    additionalProperties: false,
  },
  outputSchema: profileSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
} as const;
