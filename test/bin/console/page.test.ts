import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'puppeteer-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ended, FORMS, modernRequest, poll, runTask, TASKS } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { CHROMIUM, seriousViolations, useBrowser } from './browser.ts';
import { useConsole } from './console.ts';

/** `SCREENSHOTS=folder` keeps what the tests see. */
const SCREENSHOTS = process.env.SCREENSHOTS;

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

/** Keeps a picture, and holds the page against axe. */
async function seen(name: string): Promise<void> {
  if (SCREENSHOTS !== undefined) {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  }
  expect(await seriousViolations(page), name).toEqual([]);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overflow, `${name}: wider than its window`).toBeLessThanOrEqual(0);
}

const text = async (selector = 'main'): Promise<string> => page.$eval(selector, (one) => String(one.textContent));
const until = (words: string | RegExp, selector = 'main') =>
  expect.poll(() => text(selector), { timeout: 15_000 }).toMatch(words);
async function press(label: string): Promise<void> {
  await page.locator(`::-p-xpath(//button[normalize-space()=${JSON.stringify(label)}])`).click();
}

async function started(name: string, args: object = {}): Promise<string> {
  const { body } = await modernRequest(
    url(),
    'tools/call',
    { name, arguments: args },
    { capabilities: { ...TASKS, ...FORMS } },
  );
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
  }, 120_000);

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
  }, 120_000);

  test('shows a new task, and each change of its status, within 2 s', async () => {
    await open('');
    await until('Tasks', 'h1');
    const begun = Date.now();
    const taskId = await started('sleep', { ms: 3_000 });
    await until(`…${taskId.slice(-8)}`);
    const appeared = Date.now() - begun;
    await poll(url(), taskId, ended);
    const over = Date.now();
    const row = `::-p-xpath(//tr[contains(., '${taskId.slice(-8)}')])`;
    await expect.poll(() => text(row), { timeout: 10_000, interval: 20 }).toContain('completed');
    const changed = Date.now() - over;
    expect({ appeared, changed }).toEqual({ appeared: expect.any(Number), changed: expect.any(Number) });
    expect(Math.max(appeared, changed)).toBeLessThan(2_000);
  }, 60_000);

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
  }, 60_000);
});
