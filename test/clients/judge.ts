import type { ForeignClient, Step } from './catalog.ts';
import { COUNTED } from './tools.ts';

/** The output of a program, one JSON object a line, and the facts of the server. */
export interface Seen {
  readonly facts: readonly Readonly<Record<string, unknown>>[];
  /** The last line of its errors, when it failed. */
  readonly failed?: string;
  /** Tasks that the server created during the step: their tool and their status now. */
  readonly created: readonly { readonly tool: string; readonly status: string }[];
}

export const COLUMNS = ['create', 'progress', 'question', 'result', 'cancel', 'helper', 'file', 'read'] as const;
export type Column = (typeof COLUMNS)[number];
export type Verdicts = Partial<Record<Column, string>>;
export const OK = 'yes';

/** The verdict on a step: `yes`, or the problem. The facts of the server count, not only the client's. */
export function judge(step: Step, { facts, failed, created }: Seen, client: ForeignClient): Verdicts {
  const all = (name: string) => facts.filter((fact) => name in fact).map((fact) => fact[name]);
  const wrong = failed ?? 'it ended without';
  const yes = (holds: boolean, otherwise: string) => (holds ? OK : `${otherwise}: ${wrong}`);
  const result = all('result').at(-1);
  if (step === 'run') {
    const counted = all('progress').some((message) => /^number \d of 4$/.test(String(message)));
    return {
      create: yes(created.length === 1, `${created.length} tasks`),
      ...(!client.noProgress && { progress: yes(counted, 'no progress') }),
      result: yes(result === COUNTED, `result ${JSON.stringify(result)}`),
    };
  }
  if (step === 'question') {
    const asked = all('question');
    const once = JSON.stringify(asked) === '["How many people?","How much tip?"]';
    const answered = result === '4 people, 4 percent';
    return { question: yes(once && answered, `asked ${asked.length} times, result ${JSON.stringify(result)}`) };
  }
  if (step === 'cancel') {
    const status = created.map((task) => task.status).join();
    return { cancel: yes(status === 'cancelled' && all('status').at(-1) === status, `the task is ${status}`) };
  }
  if (step === 'file') {
    const link = String(all('file').at(-1));
    const bytes = all('read').at(-1);
    return {
      file: yes(/^http:\/\/127\.0\.0\.1:\d+\/files\/[\w.-]+\/film\.bin$/.test(link), `link ${link}`),
      read: yes(bytes === 1_000_000, `${bytes} bytes`),
    };
  }
  return {
    helper: yes(
      String(result).includes(COUNTED) && created.length === 1,
      `${created.length} tasks, result ${JSON.stringify(result)}`,
    ),
  };
}

/** A Markdown table, and the problems below it. */
export function matrix(
  rows: readonly { readonly client: ForeignClient; readonly verdicts: Verdicts | string }[],
): string {
  const lines = rows.map(({ client, verdicts }) => {
    const cells =
      typeof verdicts === 'string'
        ? COLUMNS.map((_, index) => (index === 0 ? verdicts : ''))
        : COLUMNS.map((column) => (verdicts[column] === undefined ? '–' : verdicts[column] === OK ? OK : 'NO'));
    return `| ${[client.name, client.era, ...cells].join(' | ')} |`;
  });
  const wrong = rows.flatMap(({ client, verdicts }) =>
    Object.entries(typeof verdicts === 'string' ? {} : verdicts)
      .filter(([, verdict]) => verdict !== OK)
      .map(([column, verdict]) => `${client.name}, ${client.era}, ${column}: ${verdict}`),
  );
  const head = ['client', 'revision', ...COLUMNS];
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...lines, '', ...wrong].join('\n');
}
