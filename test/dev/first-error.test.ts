import { describe, expect, test } from 'vitest';
import { APP, developed, tool } from './developed.ts';

/** An app as in the README: it reads the file of the tool, so a mistake in the tool is one in the app, too. */
const READS = `${APP.slice(0, APP.indexOf('const environment'))}
server.addToolFile('hello', 'hello.ts');
`;
const { write, printed, session, call, descriptions, until } = developed(READS);
const BROKEN = tool("'unclosed");
const errors = () => printed.filter((line) => line.includes('✗'));

/** Two syntheses take half a minute when the machine is busy. */
describe('one mistake is shown once', () => {
  test('a syntax error in a tool that the app reads', async () => {
    write('hello.ts', BROKEN);
    expect(await until(/✗/)).toMatch(/✗ hello\.ts:3:\d+: Unterminated string literal\n$/);
    await session().idle();
    expect(errors()).toEqual([]);
    expect(await call()).toBe('hello, world');
  });

  test('after another file was saved, the app shows its error; then all is repaired', async () => {
    write('other.ts', 'export const other = 1;\n');
    expect(await until(/✗/)).toMatch(
      /ToolFileError: Tool 'hello': hello\.ts cannot be built: [^✗]*hello\.ts:3:\d+: ERROR: Untermin/,
    );
    await session().idle();
    expect(errors()).toEqual([]);
    write('hello.ts', tool("'repaired'"));
    await until(/✓ the app runs as before/);
    expect(errors()).toEqual([]);
    expect(await call()).toBe('repaired');
  });

  test('a description that changes in the file reaches clients', async () => {
    write('hello.ts', tool("'repaired'").replace("'d'", "'Greets'"));
    await until(/synthesized again: 1 function updated/);
    expect(await descriptions()).toContain('Greets');
  });

  test('a mistake in the app, which runs as before once it is repaired', async () => {
    write('app.ts', READS.replace('server.addTool', 'server.addTol'));
    expect(await until(/✗/)).toMatch(/server\.addTolFile is not a function/);
    await session().idle();
    expect(errors()).toEqual([]);
    write('app.ts', READS);
    await until(/✓ the app runs as before/);
    // Only once: nothing is repaired by this save.
    write('other.ts', 'export const other = 2;\n');
    await session().idle();
    expect(printed.join('')).not.toContain('as before');
  });
});
