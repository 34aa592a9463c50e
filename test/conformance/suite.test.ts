import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAhead } from './ahead.ts';
import { scenarios, select } from './scenarios.ts';
import { runner, runSuite, runsOf } from './suite.ts';
import { judge } from './verdict.ts';

const NOBODY = 'http://127.0.0.1:9/mcp';

let resultsDir: string;
beforeAll(async () => {
  resultsDir = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
});
afterAll(() => rm(resultsDir, { recursive: true, force: true }));

const verdicts = async (names: readonly string[], rows = select(names)) => {
  const outcomes = await runSuite(rows, { url: NOBODY, resultsDir, signal: new AbortController().signal });
  return outcomes.map(judge);
};

describe('the scenario table', () => {
  test("has the runner's scenarios, each on the wires it exists for", async () => {
    const { output } = await runner(['list', '--server'], new AbortController().signal);
    const listed = [...output.matchAll(/^ +- (\S+) \[(.+)\]$/gm)].map(([, name, versions = '']) => {
      return [name, versions.split(',').filter((version) => version === '2025-11-25' || version === '2026-07-28')];
    });
    const table = scenarios.map(({ name, revisions }) => [name, [...revisions]]);
    expect(Object.fromEntries(table)).toEqual(Object.fromEntries(listed));
    expect(table).toHaveLength(listed.length);
  });

  test('selects all scenarios, or those named', () => {
    expect(select([])).toEqual(scenarios);
    expect(select(['caching', 'ping']).map(({ name }) => name)).toEqual(['caching', 'ping']);
    expect(() => select(['tasks-lifecicle'])).toThrow('tasks-lifecicle');
  });

  test('runs a scenario once per revision, an extension scenario once without', () => {
    const revisions = (name: string) =>
      select([name])
        .flatMap(runsOf)
        .map(({ revision }) => revision);
    expect(revisions('tools-list')).toEqual(['2025-11-25', '2026-07-28']);
    expect(revisions('tasks-lifecycle')).toEqual([undefined]);
  });
});

test('what pull requests of the suite will check fails against a server that is not there', async () => {
  expect(new Set((await runAhead(NOBODY)).map(judge))).toEqual(new Set(['FAILED']));
});

describe('a run of the official runner', () => {
  test('fails against a server that is not there', async () => {
    expect(await verdicts(['ping'])).toEqual(['FAILED']);
  });

  test('is not taken for a success when the runner skips the scenario and exits 0', async () => {
    const askedByRevision = { name: 'tasks-lifecycle', revisions: ['2026-07-28'] } as const;
    expect(await verdicts([], [askedByRevision])).toEqual(['NOT EXECUTED']);
  });
});
