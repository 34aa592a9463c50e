import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { functionLogs } from '../../../bin/demo/logs.ts';

const folder = mkdtempSync(join(tmpdir(), 'mcp-demo-logs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const METRIC = '{"_aws":{"Timestamp":1},"Completed":1}';
const CREATED = '{"event":"audit","action":"created","taskId":"01m8","tool":"greet"}';
const FAILED = '{"event":"audit","action":"finished","taskId":"01m8","tool":"greet","status":"failed"}';
const THROWN = 'Invoke Error {"errorType":"TypeError","errorMessage":"Database is down","trace":[]}';

/** The shown lines. Checks that the file has all lines. */
function shownOf(lines: readonly string[], verbose: boolean): string {
  const file = join(folder, 'demo.log');
  let shown = '';
  const show = (text: string) => {
    shown += text;
  };
  const onLog = functionLogs({ file, verbose, show });
  for (const line of lines) onLog('Deploy', line);
  expect(readFileSync(file, 'utf8')).toBe(lines.map((line) => `Deploy: ${line}\n`).join(''));
  return shown;
}

test('a run without a failure shows no log line, and keeps each in the file', () => {
  expect(shownOf([METRIC, CREATED], false)).toBe('');
});

test('a function that fails is shown, with its error', () => {
  const shown = shownOf([METRIC, CREATED, THROWN, FAILED], false);
  expect(shown).toContain('Deploy │ ✗ TypeError: Database is down');
  expect(shown).toContain('✗ greet …01m8 failed');
  expect(shown).not.toContain('{"');
});

test('with --verbose every line but metrics is shown', () => {
  const shown = shownOf([METRIC, CREATED], true);
  expect(shown).toContain(`Deploy: ${CREATED}`);
  expect(shown).not.toContain('_aws');
});
