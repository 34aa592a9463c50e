import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../../functions/signals/serve.ts';
import { CHROMIUM, check, useBrowser } from '../../bin/console/browser.ts';
import { linkOf, setup } from './support.ts';

const FORM = {
  ok: { type: 'boolean', title: 'May we buy it?' },
  amount: { type: 'integer', title: 'At most, in euros', minimum: 1, maximum: 1000, default: 900 },
  size: { type: 'string', title: 'Size', enum: ['s', 'm', 'l'], enumNames: ['Small', 'Medium', 'Large'] },
  town: { type: 'string', title: 'Deliver to', enum: Array.from({ length: 9 }, (_, i) => `Town ${i}`) },
  extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['wrapping', 'a card'] } },
  day: { type: 'string', title: 'By which day', format: 'date' },
  call: { type: 'string', title: 'When may we call?', format: 'date-time' },
  mail: { type: 'string', title: 'Mail', format: 'email', description: 'For the receipt.' },
  note: { type: 'string', title: 'Note', maxLength: 500 },
};

describe.skipIf(CHROMIUM === undefined)('the page of a link in Chromium, on a phone', () => {
  const browser = useBrowser();
  const set = setup({ server: 'Office supplies', titles: { buy: 'Approve a purchase' } });
  let server: Server;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const [, place, name, mac] = (request.url ?? '').split('/');
      let body = '';
      for await (const chunk of request) body += chunk;
      const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, String(value)]));
      const path = { place, name, mac };
      const reply = await serve({ method: request.method ?? '', path, headers, body }, set.context);
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function open(dark = false) {
    const message = 'Three office chairs for the new room, from Chairs & More, for €900 altogether.';
    const task = await set.taskWith({ approval: linkOf(FORM, ['ok', 'amount'], message) });
    const page = await browser().newPage();
    const complaints: string[] = [];
    page.on('console', (line) => complaints.push(line.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.setJavaScriptEnabled(true);
    await page.setViewport({ width: 360, height: 740, deviceScaleFactor: 2 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    const { place, name, mac } = set.pathOf(task, 'approval');
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${place}/${name}/${mac}`);
    return { task, page, complaints };
  }

  test.each([false, true])(
    'it is asked, answered wrongly, answered, and over; axe finds nothing; dark: %s',
    async (dark) => {
      const { task, page, complaints } = await open(dark);
      const mode = dark ? 'dark' : 'light';
      await check(page, `link-asks-${mode}`);
      await page.click('label::-p-text(Yes)');
      await page.$eval('#f1', (input) => input.setAttribute('max', '99999'));
      await page.$eval('#f1', (input) => ((input as unknown as { value: string }).value = '5000'));
      await page.click('label::-p-text(Medium)');
      await page.type('#f7', 'ann@example.com');
      await page.type('#by', 'Ann');
      await Promise.all([page.waitForNavigation(), page.click('button[value=accept]')]);
      await check(page, `link-wrong-${mode}`);
      expect(await page.$eval('#f1-error', ({ textContent }) => textContent)).toBe('This must be at most 1000');
      expect(await page.$eval('#by', (input) => (input as unknown as { value: string }).value)).toBe('Ann');
      await page.$eval('#f1', (input) => ((input as unknown as { value: string }).value = '950'));
      await Promise.all([page.waitForNavigation(), page.click('button[value=accept]')]);
      await check(page, `link-answered-${mode}`);
      expect(JSON.parse(set.stored(task).inputResponses?.['w.approval'] ?? '').signal).toEqual({
        action: 'accept',
        content: { ok: true, amount: 950, size: 'm', mail: 'ann@example.com' },
        by: 'Ann',
        at: expect.any(Number),
      });
      await page.reload();
      await check(page, `link-over-${mode}`);
      expect(complaints.filter((line) => !/status of 4(22|10)/.test(line))).toEqual([]);
      await page.close();
    },
  );

  test('Decline needs nothing filled in, also by the keyboard and without scripts', async () => {
    const { task, page } = await open();
    await page.setJavaScriptEnabled(false);
    await page.reload();
    await page.focus('button[value=decline]');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe('Approve a purchase');
    expect(JSON.parse(set.stored(task).inputResponses?.['w.approval'] ?? '').signal.action).toBe('decline');
    await page.close();
  });
});
