import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const CLIENT = join(import.meta.dirname, '../../../functions/client/index.ts');
/** A program with a client of this revision, in which imports of this module fail. It prints the error or the result of a call. */
async function withoutModule(missing: string, era: 'modern' | 'legacy', code?: string): Promise<string> {
  const program = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name.startsWith('${missing}')) throw Object.assign(new Error('Any text'), { code: '${code}' });
      return next(name, context);
    } });
    const { callTask } = await import(${JSON.stringify(CLIENT)});
    const refused = Object.assign(new Error(), { code: -32601 });
    const client = {
      getProtocolEra: () => '${era}',
      request: ({ params }) => params.task ? Promise.reject(refused) : Promise.resolve('the result'),
    };
    const print = (text) => console.log(text);
    await callTask(client, 'tool').then(print, ({ message }) => print(message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return stdout.trim();
}

test('says what to install if the tasks package is missing, but not after another error', async () => {
  const [tasks, missing] = ['@modelcontextprotocol/ext-tasks', 'ERR_MODULE_NOT_FOUND'];
  expect(await withoutModule(tasks, 'modern', missing)).toBe(
    'Tasks of @modelcontextprotocol/client need: npm install @modelcontextprotocol/ext-tasks',
  );
  expect(await withoutModule(tasks, 'modern', 'EACCES')).toBe('Any text');
  expect(await withoutModule('./port.ts', 'modern', missing)).toBe('Any text');
});

test('a client of one package needs no other one', async () => {
  expect(await withoutModule('@modelcontextprotocol/', 'legacy')).toBe('the result');
});
