import type { Page } from 'puppeteer-core';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Cloud } from '../../../local/cloud.ts';
import { modernRequest, TASKS } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { CHROMIUM, check, useBrowser } from './browser.ts';
import { type TestConsole, useConsole } from './console.ts';

type Scheme = 'light' | 'dark';
export const WIDE = { width: 1_280, height: 800 };
export const PHONE = { width: 400, height: 844 };

/** The page of an embedded cloud in Chromium, a new tab for each test. */
export interface TestPage {
  readonly cloud: () => Cloud;
  readonly url: () => string;
  /** The page of `dev`. */
  readonly console_: () => TestConsole;
  /** The page of a deployed stack. */
  readonly deployed: () => TestConsole;
  readonly page: () => Page;
  /** What the browser refused or reported: a page without fault is silent. */
  readonly complaints: () => readonly string[];
  /** Opens a part of the page. @param hash such as `#/task/<id>` */
  open(hash: string, scheme?: Scheme, size?: typeof WIDE, of?: TestConsole): Promise<void>;
  /** Keeps a picture, and expects that all fits and that axe finds nothing serious. */
  seen(name: string): Promise<void>;
  text(selector?: string): Promise<string>;
  until(words: string | RegExp, selector?: string): Promise<void>;
  press(label: string): Promise<void>;
  /** Starts a task. Returns its id. */
  started(name: string, args?: object): Promise<string>;
}

export function usePage(): TestPage {
  const cloud = useCloud('assembly', { assembly: useAssembly('test/support/apps/page-app.ts') });
  const console_ = useConsole(cloud);
  const deployed = useConsole(cloud, 'administrator', false);
  const browser = useBrowser();
  const url = () => `${cloud().url}/mcp`;
  let page: Page;
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
  const text = async (selector = 'main'): Promise<string> =>
    page.$eval(selector, (one) => String(one.textContent).replace(/\s+/g, ' '));
  return {
    ...{ cloud, url, console_, deployed, text },
    page: () => page,
    complaints: () => complaints,
    async open(hash, scheme = 'light', size = WIDE, of = console_()) {
      await page.setViewport(size);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.goto(`${of.url}${hash}`);
      await page.waitForSelector('h1');
    },
    seen: (name) => check(page, name),
    until: (words, selector = 'main') => expect.poll(() => text(selector)).toMatch(words),
    press: (label) => page.locator(`::-p-xpath(//button[normalize-space()=${JSON.stringify(label)}])`).click(),
    async started(name, args = {}) {
      const capabilities = { ...TASKS, elicitation: { form: {}, url: {} } };
      const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args }, { capabilities });
      return body.result.taskId;
    },
  };
}
