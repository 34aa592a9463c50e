import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const CLIENT = join(import.meta.dirname, '../../../functions/client/index.ts');
/** A program in which imports of this module fail. It prints why a call has failed. */
async function withoutModule(missing: string): Promise<string> {
  const program = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name.startsWith('${missing}')) throw new Error('Cannot find ' + name);
      return next(name, context);
    } });
    const { callTask } = await import(${JSON.stringify(CLIENT)});
    await callTask({ getProtocolEra: () => 'modern' }, 'tool').catch(({ message }) => console.log(message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return stdout.trim();
}

test('says what to install if the tasks package is missing, but not for another module', async () => {
  expect(await withoutModule('@modelcontextprotocol/ext-tasks')).toBe(
    'Tasks of @modelcontextprotocol/client need: npm install @modelcontextprotocol/ext-tasks',
  );
  expect(await withoutModule('./port.ts')).toBe('Cannot find ./port.ts');
});
