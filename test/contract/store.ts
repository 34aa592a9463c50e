import { afterAll, beforeAll, describe } from 'vitest';
import { answersContract } from './cases/answers.ts';
import { besideContract } from './cases/beside.ts';
import { changesContract } from './cases/changes.ts';
import { filesContract } from './cases/files.ts';
import { finishContract } from './cases/finish.ts';
import { journalContract } from './cases/journal.ts';
import { progressContract } from './cases/progress.ts';
import { racesContract } from './cases/races.ts';
import { readsContract } from './cases/reads.ts';
import type { Referee } from './referee.ts';
import { streamsContract } from './streams.ts';
import { tableContract } from './table.ts';
import { templateContract } from './template.ts';
import { valuesContract } from './values.ts';

type Part = (referee: () => Referee) => void;

/** What the store promises, wherever its table is. */
export const STORE: Readonly<Record<string, Part>> = {
  'changes of a task': changesContract,
  'answers of a task': answersContract,
  'reading tasks': readsContract,
  'what runs report': progressContract,
  'what runs have done': journalContract,
  races: racesContract,
  'sizes and values': valuesContract,
  'the table': tableContract,
  'what lies beside the tasks': besideContract,
  'waiting requests': streamsContract,
};

/** What needs a DynamoDB that answers over HTTP. */
export const SERVICE: Readonly<Record<string, Part>> = {
  'the template': templateContract,
  'what the tool workflow writes': finishContract,
  'the files of a task': filesContract,
};

/** The parts of the contract, held against the table that `open` gives. */
export function storeContract(open: () => Promise<Referee>, parts: Readonly<Record<string, Part>>): void {
  let opened: Referee | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.stop());
  const referee = (): Referee => {
    if (opened === undefined) throw new Error('The engine is not up yet');
    return opened;
  };
  for (const [name, part] of Object.entries(parts)) describe(name, () => part(referee));
}
