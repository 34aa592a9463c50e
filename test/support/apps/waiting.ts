import { appendFile } from 'node:fs/promises';
import { defineTool, elicitForm, StepInterrupted } from '../../../functions/tool/index.ts';

/**
 * Gives its two URLs away as a line of `<file>.urls`, sleeps `nap` seconds, charges at most once by a line of `file`, and
 * waits for a person and another system, `seconds` at most.
 */
export const chargeAndWait = defineTool(
  {
    description: 'd',
    inputSchema: {
      type: 'object',
      properties: { file: { type: 'string' }, nap: { type: 'integer' }, seconds: { type: 'integer' } },
    },
  },
  async ({ file = '', nap = 0, seconds = 0 }, task) => {
    const form = elicitForm('Charge?', { name: { type: 'string' } });
    const approval = await task.link('approval', form, { within: { seconds } });
    const paid = await task.webhook('paid', { within: { seconds } });
    const urls = JSON.stringify({ approval: approval.url, paid: paid.url });
    await task.step('give away', () => appendFile(`${file}.urls`, `${urls}\n`));
    await task.sleep('nap', { seconds: nap });
    const charged = await task.step('charge', () => charge(file), { atMostOnce: true }).catch(interrupted);
    const [said, sent] = await Promise.all([approval.answer(), paid.received()]);
    return { charged, said, sent };
  },
);

async function charge(file: string): Promise<boolean> {
  await appendFile(file, 'charged\n');
  return true;
}

function interrupted(error: unknown): boolean {
  if (error instanceof StepInterrupted) return false;
  throw error;
}
