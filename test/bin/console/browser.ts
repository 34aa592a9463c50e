import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect } from 'vitest';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
];

/** The Chromium of this machine; undefined without one. */
export const CHROMIUM = [process.env.CHROMIUM ?? '', ...PLACES].find((file) => file !== '' && existsSync(file));

export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (CHROMIUM === undefined) return;
    // Containers seldom have what its sandbox needs. It opens pages of this test only.
    browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  }, 120_000);
  afterAll(() => browser?.close());
  return () => {
    if (browser === undefined) throw new Error('There is no browser');
    return browser;
  };
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** The serious and critical violations that axe finds, each as a sentence. */
async function seriousViolations(page: Page): Promise<string[]> {
  // Not as a script of the page: its policy would refuse it.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  // biome-ignore lint/suspicious/noExplicitAny: axe has put itself into the page.
  const { violations } = await page.evaluate(() => (globalThis as any).axe.run());
  interface Violation {
    readonly id: string;
    readonly impact: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }
  return (violations as Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** `SCREENSHOTS=folder` keeps what the tests see. */
const { SCREENSHOTS } = process.env;

/** Keeps a picture, and expects that axe finds nothing serious and that all fits into the width of the window. */
export async function check(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS !== undefined) {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  }
  expect(await seriousViolations(page), name).toEqual([]);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overflow, `${name}: wider than its window`).toBeLessThanOrEqual(0);
}
