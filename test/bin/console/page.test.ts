import type { HTTPRequest } from 'puppeteer-core';
import { describe, expect, test } from 'vitest';
import { ended, modernRequest, poll } from '../../support/clients.ts';
import { CHROMIUM } from './browser.ts';
import { PHONE, usePage } from './page.ts';

const { url, console_, page, complaints, open, seen, text, until, press, started } = usePage();

describe.skipIf(CHROMIUM === undefined)('the page in Chromium', () => {
  test('says that there is no task yet', async () => {
    await open('');
    await until('No task yet');
    await seen('empty');
    expect(complaints()).toEqual([]);
  });

  test('shows each change of a task at the first read after it, on both parts', async () => {
    // The page reads again a pause after the last answer: one second in dev.
    expect(await (await fetch(`${console_().url}api/server`)).json()).toMatchObject({ pause: 1_000 });
    const held: HTTPRequest[] = [];
    let isHeld = false;
    await page().setRequestInterception(true);
    page().on('request', (request) => {
      if (isHeld && /\/api\/tasks?\?/.test(request.url())) held.push(request);
      else void request.continue();
    });
    const go = async (hash: string) => {
      isHeld = false;
      await open(hash);
      held.length = 0;
    };
    /** Waits until the page waits for a read that has not left the browser. */
    const hold = async () => {
      isHeld = true;
      await expect.poll(() => held.length).toBe(1);
    };
    /** One read, and nothing after it. */
    const pass = () => held.shift()?.continue();
    for (const part of ['list', 'task'] as const) {
      await go('#/?tool=confide');
      await hold();
      const taskId = await started('confide', { word: 'sesame' });
      const row = `::-p-xpath(//tr[contains(., '${taskId.slice(-10)}')])`;
      const shows = (status: string, selector = part === 'list' ? row : 'h1') =>
        expect.poll(() => text(selector).catch(() => '')).toContain(status);
      // A list reads one status after the other, and misses a task that moves meanwhile: the next one has it.
      isHeld = false;
      await pass();
      await shows('…', row);
      if (part === 'task') await go(`#/task/${taskId}`);
      await hold();
      await poll(url(), taskId, ({ status }) => status === 'input_required');
      await pass();
      await shows('input required');
      await hold();
      const inputResponses = { 'r1.confirm': { action: 'accept', content: { ok: true } } };
      await modernRequest(url(), 'tasks/update', { taskId, inputResponses });
      await poll(url(), taskId, ended);
      await pass();
      await shows('completed');
    }
  });

  test('lists tasks, with filters, in both schemes and on a phone', async () => {
    await started('confide', { word: 'sesame' });
    await started('sleep', { ms: 30_000 });
    for (const scheme of ['light', 'dark'] as const) {
      await open('', scheme);
      await until('input required');
      await seen(`list-${scheme}`);
      await open('', scheme, PHONE);
      await until('input required');
      await seen(`list-phone-${scheme}`);
    }
    await page().select('select[name=tool]', 'sleep');
    await expect.poll(() => text('table.tasks')).not.toContain('confide');
    await page().select('select[name=status]', 'cancelled');
    await until('No task fits these filters');
    await seen('list-filtered-empty');
  });

  test('is used by keyboard: arrows, Enter, Escape; a cancel asks for its reason', async () => {
    const taskId = await started('confide', { word: 'sesame' });
    await open(`#/?tool=confide`);
    await until(`…${taskId.slice(-10)}`);
    // The whole row is a link.
    await page().click('table.tasks td.age');
    await until(taskId);
    await page().keyboard.press('Escape');
    await until(`…${taskId.slice(-10)}`);
    await page().keyboard.press('ArrowDown');
    await page().keyboard.press('Enter');
    await until(taskId);
    await expect.poll(() => page().evaluate('document.activeElement.tagName')).toBe('H1');
    await until('input required', 'h1');
    await press('Cancel …');
    await page().waitForSelector('dialog[open] input[name=reason]');
    await seen('cancel');
    await page().keyboard.press('Escape');
    await page().waitForSelector('dialog:not([open])');
    expect(await text('h1')).toContain('input required');
    await press('Cancel …');
    await page().keyboard.type('INC-7');
    await page().keyboard.press('Enter');
    await until('cancelled', 'h1');
    await until('“INC-7”');
    await until(/^Cancelled\. Its run is stopped$/, '#said');
    expect(console_().acts.at(-1)).toMatchObject({ act: 'cancel', taskId, reason: 'INC-7', done: true });
    await page().keyboard.press('Escape');
    await until('Tasks', 'h1');
    expect(await page().evaluate('location.hash')).toBe('#/?tool=confide');
    expect(complaints()).toEqual([]);
  });

  test('the focus stays with its task while others come, and each question keeps what was typed', async () => {
    const two = await started('ask_two');
    await open('#/?tool=ask_two');
    await until(`…${two.slice(-10)}`);
    await page().keyboard.press('j');
    const focused = () => page().evaluate('document.activeElement.textContent');
    expect(await focused()).toContain(two.slice(-10));
    const other = await started('ask_two');
    await until(`…${other.slice(-10)}`);
    expect(await focused()).toContain(two.slice(-10));
    await open(`#/task/${two}`);
    await until('Second?');
    const selects = await page().$$('.question select');
    await selects[0]?.select('true');
    await (await page().$('.question button.main'))?.click();
    await expect.poll(() => text()).not.toContain('First?');
    await until('Still open: r1.second', '#said');
    expect(
      await page().$$eval('.question select', (all) => all.map((one) => (one as { value?: string }).value)),
    ).toEqual(['']);
  });

  test('a long list has pages', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 55; i++) ids.push(await started('echo'));
    await open('#/?tool=echo');
    await until('Older');
    expect(await page().$$('table.tasks tbody tr')).toHaveLength(50);
    await page().locator('nav.pages a').click();
    await until(`…${ids[0]?.slice(-10)}`);
    await page().locator('nav.pages a').click();
    await until(`…${ids.at(-1)?.slice(-10)}`);
  });

  test('shows that the console does not answer, and continues when it does', async () => {
    await open('');
    await until('Tasks', 'h1');
    await page().setOfflineMode(true);
    await until('does not answer', '#problem');
    await page().setOfflineMode(false);
    await expect.poll(() => text('#problem')).toBe('');
  });
});
