import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'puppeteer-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ended, modernRequest, poll, runTask, TASKS } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { CHROMIUM, look, useBrowser } from './browser.ts';
import { plant, useConsole } from './console.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/support/apps/page-app.ts') });
const console_ = useConsole(cloud);
const browser = useBrowser();
const url = () => `${cloud().url}/mcp`;

let page: Page;
/** What the browser refused or reported: a page without fault is silent. */
let complaints: string[] = [];
beforeEach(async () => {
  if (CHROMIUM === undefined) return;
  page = await browser().newPage();
  complaints = [];
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => complaints.push('a dialog')));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
});
afterEach(() => page?.close());

type Scheme = 'light' | 'dark';
const WIDE = { width: 1_100, height: 800 };
const PHONE = { width: 390, height: 844 };

/** Opens a part of the page. @param hash such as `#/task/<id>` */
async function open(hash: string, scheme: Scheme = 'light', size = WIDE): Promise<void> {
  await page.setViewport(size);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(`${console_().url}${hash}`);
  await page.waitForSelector('h1');
}

const seen = (name: string) => look(page, name);
const text = async (selector = 'main'): Promise<string> => page.$eval(selector, (one) => String(one.textContent));
const until = (words: string | RegExp, selector = 'main') => expect.poll(() => text(selector)).toMatch(words);
async function press(label: string): Promise<void> {
  await page.locator(`::-p-xpath(//button[normalize-space()=${JSON.stringify(label)}])`).click();
}

async function started(name: string, args: object = {}): Promise<string> {
  const capabilities = { ...TASKS, elicitation: { form: {}, url: {} } };
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args }, { capabilities });
  return body.result.taskId;
}

describe.skipIf(CHROMIUM === undefined)('the page in Chromium', () => {
  test('says that there is no task yet', async () => {
    await open('');
    await until('No task yet');
    await seen('empty');
    expect(complaints).toEqual([]);
  });

  test('shows where the time of a task went, and answers its questions', async () => {
    const taskId = await started('research_topic', { topic: 'ice', depth: 1 });
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    await open(`#/task/${taskId}`);
    await until('hidden');
    expect(await text()).not.toContain('Which aspects');
    await press('Show the questions, to answer them');
    await until('Which aspects');
    await seen('question');
    await sleep(1_000);
    await page.click('.question input[type=checkbox]');
    await press('Answer');
    await until('Append their concordance');
    await sleep(500);
    await page.select('.question select[name=append]', 'true');
    await press('Answer');
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
    await until(/completed/, 'h1');
    await press('Hide them');
    await until('Round 3');
    for (const scheme of ['light', 'dark'] as const) {
      await open(`#/task/${taskId}`, scheme);
      await until('Round 3');
      await page.click('summary');
      await seen(`waterfall-${scheme}`);
      await open(`#/task/${taskId}`, scheme, PHONE);
      await until('Round 3');
      await seen(`waterfall-phone-${scheme}`);
    }
    expect(complaints).toEqual([]);
  });

  test('says why a task failed, and which attempts did', async () => {
    const { taskId } = await runTask(url(), 'throws');
    await open(`#/task/${taskId}`);
    await until('TypeError');
    expect(await text('h1')).toContain('failed');
    await seen('failed');
    const crashed = await runTask(url(), 'charge_then_crash', { file: '/dev/null', crashes: 2 });
    await open(`#/task/${crashed.taskId}`, 'dark');
    await until('attempt failed');
    await seen('retried-dark');
  });

  test('shows a new task, and each change of its status, within 2 s, on both parts', async () => {
    const waits: Record<string, number> = {};
    for (const part of ['list', 'task'] as const) {
      await open('');
      let begun = Date.now();
      const taskId = await started('confide', { word: 'sesame' });
      const row = `::-p-xpath(//tr[contains(., '${taskId.slice(-8)}')])`;
      const shown = async (status: string, selector = part === 'list' ? row : 'h1') => {
        const look = () => text(selector).catch(() => '');
        await expect.poll(look, { interval: 20 }).toContain(status);
        waits[`${part}: ${status}`] = Date.now() - begun;
      };
      await shown('…', row);
      if (part === 'task') await open(`#/task/${taskId}`);
      await poll(url(), taskId, ({ status }) => status === 'input_required');
      begun = Date.now();
      await shown('input required');
      const inputResponses = { 'r1.confirm': { action: 'accept', content: { ok: true } } };
      await modernRequest(url(), 'tasks/update', { taskId, inputResponses });
      await poll(url(), taskId, ended);
      begun = Date.now();
      await shown('completed');
    }
    expect(Object.keys(waits)).toHaveLength(6);
    expect(Object.entries(waits).filter(([, ms]) => ms >= 2_000)).toEqual([]);
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
    await page.select('select[name=tool]', 'sleep');
    await expect.poll(() => text('table.tasks')).not.toContain('confide');
    await page.select('select[name=status]', 'cancelled');
    await until('No task fits these filters');
    await seen('list-filtered-empty');
  });

  test('is used by keyboard: arrows, Enter, Escape; a cancel asks for its reason', async () => {
    const taskId = await started('confide', { word: 'sesame' });
    await open(`#/?tool=confide`);
    await until(`…${taskId.slice(-8)}`);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until(taskId);
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    await until('input required', 'h1');
    await press('Cancel …');
    await page.waitForSelector('dialog[open] input[name=reason]');
    await seen('cancel');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog:not([open])');
    expect(await text('h1')).toContain('input required');
    await press('Cancel …');
    await page.keyboard.type('INC-7');
    await page.keyboard.press('Enter');
    await until('cancelled', 'h1');
    await until('“INC-7”');
    expect(await text('#said')).toBe('Cancelled. Its run is stopped');
    expect(console_().acts.at(-1)).toMatchObject({ act: 'cancel', taskId, reason: 'INC-7', done: true });
    await page.keyboard.press('Escape');
    await until('Tasks', 'h1');
    expect(await page.evaluate('location.hash')).toBe('#/?tool=confide');
    expect(complaints).toEqual([]);
  });

  test('the focus stays with its task while others come, and each question keeps what was typed', async () => {
    const two = await started('ask_two');
    await open('#/?tool=ask_two');
    await until(`…${two.slice(-8)}`);
    await page.keyboard.press('j');
    const focused = () => page.evaluate('document.activeElement.textContent');
    expect(await focused()).toContain(two.slice(-8));
    const other = await started('ask_two');
    await until(`…${other.slice(-8)}`);
    expect(await focused()).toContain(two.slice(-8));
    await open(`#/task/${two}`);
    await press('Show the questions, to answer them');
    await until('Second?');
    const selects = await page.$$('.question select');
    await selects[0]?.select('true');
    await (await page.$('.question button.main'))?.click();
    await expect.poll(() => text()).not.toContain('First?');
    await until('Still open: r1.second', '#said');
    expect(await page.$$eval('.question select', (all) => all.map((one) => (one as { value?: string }).value))).toEqual(
      [''],
    );
  });

  test('a run again leads to the new task, and says why it is refused', async () => {
    const { taskId } = await runTask(url(), 'echo');
    await open(`#/task/${taskId}`);
    await press('Run it again …');
    await page.keyboard.press('Enter');
    await until('may have had effects already', '#said');
    await press('Run it again …');
    await page.click('dialog input[name=force]');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('location.hash')).not.toMatch(`^#/task/${taskId}`);
    await until(`…${taskId.slice(-8)}`);
  });

  test('texts of tools and clients stay texts, wherever they stand', async () => {
    const bad = `<img src=x onerror=document.title='owned'>`;
    const asks = await started('confide', { word: bad });
    await poll(url(), asks, ({ status }) => status === 'input_required');
    const planted = await plant(cloud(), asks, {
      tool: bad,
      status: 'failed',
      error: JSON.stringify({ code: 1, message: bad }),
    });
    const foreign = await plant(cloud(), asks, { tool: bad, version: 99, status: bad });
    await open('');
    await until(bad);
    for (const id of [asks, planted, foreign]) {
      await open(`#/task/${id}`);
      await until(id);
      if (id !== foreign) await page.click('main button:not(.buttons button)');
      await until(bad);
      expect(await page.$$('main img')).toEqual([]);
    }
    await open(`#/task/${encodeURIComponent(bad)}?owner=${encodeURIComponent(bad)}`);
    await until('No task', '#problem');
    expect(await page.title()).not.toBe('owned');
    expect(await page.$$('img')).toEqual([]);
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
  });

  test('a long list has pages', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 55; i++) ids.push(await started('echo'));
    await open('#/?tool=echo');
    await until('Older');
    expect(await page.$$('table.tasks tbody tr')).toHaveLength(50);
    await page.locator('nav.pages a').click();
    await until(`…${ids[0]?.slice(-8)}`);
    await page.locator('nav.pages a').click();
    await until(`…${ids.at(-1)?.slice(-8)}`);
  });

  test('a question may name any address: only one of the web is a link', async () => {
    const taskId = await started('ask_url');
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    await open(`#/task/${taskId}`);
    await press('Show the questions, to answer them');
    await until('https://example.com/login');
    const links = await page.$$eval('main a', (all) => all.map((one) => String(one.getAttribute('href'))));
    expect(links.filter((href) => !href.startsWith('#'))).toEqual(['https://example.com/login']);
    await press('Decline');
    await poll(url(), taskId, ended);
  });

  test('says so while the console does not answer, and goes on when it does', async () => {
    await open('');
    await until('Tasks', 'h1');
    await page.setOfflineMode(true);
    await until('does not answer', '#problem');
    await page.setOfflineMode(false);
    await expect.poll(() => text('#problem')).toBe('');
  });
});
