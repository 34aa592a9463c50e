import { expect, test } from 'vitest';
import { handler } from '../../../functions/examples/render-film.ts';
import { runTool } from '../../../functions/tool/testing.ts';

test('shows a picture while it works, and returns the film as a file', async () => {
  const { result, files, progress } = await runTool(handler, { title: 'Rain', megabytes: 2 });
  const { 'preview.png': preview, 'film.bin': film } = files;
  expect(Buffer.from(preview?.content ?? []).toString('latin1', 0, 4)).toBe('\x89PNG');
  expect([preview?.type, film?.type, film?.bytes]).toEqual(['image/png', 'application/octet-stream', 2_000_000]);
  expect(progress.map(({ message }) => message.split('\n'))).toEqual([
    ['Rendering the first frame'],
    ['Rendering the first frame', expect.stringMatching(/^Preview: .*\/preview\.png$/)],
    ['0 of 2 MB', expect.stringMatching(/^Preview: /)],
  ]);
  expect(result).toMatchObject({ content: [{ type: 'text' }, { type: 'resource_link', name: 'film.bin' }] });
});
