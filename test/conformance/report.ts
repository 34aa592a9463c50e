import { stripVTControlCharacters } from 'node:util';
import { type Check, isAcceptable, judge, type Outcome, withStatus } from './verdict.ts';

const HEADER = ['scenario', 'revision', 'passed', 'failed', 'warnings', 'skipped', 'verdict'];

/** The table of all outcomes, followed by what is worth reading about each. */
export function report(outcomes: readonly Outcome[]): string {
  const rejected = outcomes.filter((outcome) => !isAcceptable(outcome)).length;
  const summary = `${outcomes.length} runs, ${rejected} not acceptable`;
  return [table([HEADER, ...outcomes.map(row)]), ...outcomes.flatMap(details), summary].join('\n\n');
}

function row(outcome: Outcome): readonly string[] {
  const count = (status: Check['status']) => String(withStatus(outcome, status).length);
  const counts = [count('SUCCESS'), count('FAILURE'), count('WARNING'), count('SKIPPED')];
  return [outcome.scenario.name, outcome.revision ?? 'extension', ...counts, judge(outcome)];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = HEADER.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((cells) => line(cells).trimEnd()).join('\n');
}

/** Nothing for a clean pass, otherwise one paragraph. */
function details(outcome: Outcome): readonly string[] {
  const verdict = judge(outcome);
  const notes = [...checkNotes(outcome), ...reasonNotes(outcome)];
  if (!isAcceptable(outcome) && withStatus(outcome, 'FAILURE').length === 0) notes.push(...runnerNotes(outcome));
  if (notes.length === 0) return [];
  const { scenario, revision = 'extension' } = outcome;
  return [`${scenario.name} (${revision}): ${verdict}\n${notes.map((note) => `  ${note}`).join('\n')}`];
}

function checkNotes(outcome: Outcome): readonly string[] {
  const failures = isAcceptable(outcome) ? [] : withStatus(outcome, 'FAILURE');
  const loud = [...failures, ...withStatus(outcome, 'WARNING')];
  return loud.map(
    ({ status, id, errorMessage, description }) => `${status} ${id}: ${shorten(errorMessage ?? description)}`,
  );
}

function reasonNotes({ scenario }: Outcome): readonly string[] {
  const reasons = [scenario.baseline?.reason, scenario.idle];
  return reasons.filter((reason) => reason !== undefined).map((reason) => `listed because: ${reason}`);
}

function runnerNotes({ exitCode, output }: Outcome): readonly string[] {
  return [`the runner exited with ${exitCode}`, ...stripVTControlCharacters(output).trim().split('\n').slice(-10)];
}

function shorten(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ');
  return line.length > 600 ? `${line.slice(0, 600)}…` : line;
}
