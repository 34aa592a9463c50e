import { describe, expect, test } from 'vitest';
import { ended, poll, runTask } from '../../support/clients.ts';
import { CHROMIUM } from './browser.ts';
import { plant } from './console.ts';
import { PHONE, usePage, WIDE } from './page.ts';

const { cloud, url, deployed, page, complaints, open, seen, text, until, press, started } = usePage();

describe.skipIf(CHROMIUM === undefined)('a task on the page in Chromium', () => {
  test('shows where the time of a task went, and answers its questions', async () => {
    const chosen = { type: 'array', items: { type: 'string', enum: ['country', 'total'] }, minItems: 1 };
    const taskId = await started('ask_twice', { fields: { chosen } });
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    await open(`#/task/${taskId}`, 'light', WIDE, deployed());
    await until('hidden');
    expect(await text()).not.toMatch(/Once\?|What was logged/);
    await press('Show the questions, to answer them');
    await until('Once?');
    await seen('question');
    await page().click('.question input[type=checkbox]');
    await page().type('.question .reason input', 'INC-7');
    await press('Answer');
    await until('Twice?');
    await page().select('.question select', 'true');
    await page().type('.question .reason input', 'INC-7');
    await press('Answer');
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
    await until(/completed/, 'h1');
    await press('Hide them');
    await until('Round 3');
    for (const scheme of ['light', 'dark'] as const) {
      await open(`#/task/${taskId}`, scheme);
      await until('Round 3');
      await until('Result');
      await page().click('summary');
      await seen(`waterfall-${scheme}`);
      await open(`#/task/${taskId}`, scheme, PHONE);
      await until('Result');
      await seen(`waterfall-phone-${scheme}`);
    }
    expect(complaints()).toEqual([]);
  });

  test('in dev shows arguments, errors and log lines of a task without a click', async () => {
    const { taskId } = await runTask(url(), 'charge_then_crash', { file: '/nope/sesame' });
    await open(`#/task/${taskId}`);
    await until('/nope/sesame', 'pre[aria-label=Arguments]');
    expect(await text('h1')).toContain('failed');
    expect(await text('.thrown')).toMatch(/^ENOENT: no such file.* at /);
    expect(await text('.logs .bad')).toContain(`Error: ENOENT: no such file or directory, open '/nope/sesame'`);
    expect(await page().$$('button')).toHaveLength(1);
    await seen('failed');
    // A plain function logs nothing that names its task: the history of its run has what it threw.
    const crashed = await runTask(url(), 'charge_then_crash', { file: '/dev/null', crashes: 2 });
    await open(`#/task/${crashed.taskId}`, 'dark');
    await until('Runtime exited with error', '.thrown');
    await until('attempt failed');
    await seen('retried-dark');
    await open(`#/task/${taskId}`, 'light', PHONE);
    await until('/nope/sesame', 'pre[aria-label=Arguments]');
    await seen('failed-phone');
    const { taskId: returned } = await runTask(url(), 'echo', { word: 'sesame' });
    await open(`#/task/${returned}`);
    await until('sesame', 'pre[aria-label=Result]');
    expect(complaints()).toEqual([]);
  });

  test('of a deployed server shows no message and no log line, and the errors with the payload', async () => {
    const { taskId } = await runTask(url(), 'charge_then_crash', { file: '/nope/sesame' });
    await open(`#/task/${taskId}`, 'light', WIDE, deployed());
    await until('What happened');
    expect(await text()).not.toMatch(/nope|What was logged/);
    await press('Show arguments and result');
    await until('ENOENT', '.thrown');
    expect(await text()).not.toContain('What was logged');
  });

  test('shows what a task reports: a bar, the amounts, and in dev the message', async () => {
    const taskId = await started('steps', { steps: 30 });
    await poll(url(), taskId, ({ statusMessage }) => statusMessage === 'step 2');
    for (const [size, name] of [
      [WIDE, ''],
      [PHONE, '-phone'],
    ] as const) {
      await open('#/?tool=steps', 'light', size);
      await until(/\d+ of 30 · step \d/, 'table.tasks .note');
      expect(await page().$eval('.note progress', (bar) => (bar as unknown as { max: number }).max)).toBe(30);
      await seen(`progress-list${name}`);
      await open(`#/task/${taskId}`, 'light', size);
      await until(/\d+ of 30 · step \d/, 'main > .progress');
      await seen(`progress${name}`);
    }
    await open(`#/task/${taskId}`, 'light', WIDE, deployed());
    await until(/\d+ of 30/, 'main > .progress');
    expect(await text('main > .progress')).not.toContain('step');
    await press('Cancel …');
    await page().type('dialog input', 'test');
    await press('Cancel the task');
    await until('cancelled', 'h1');
  });

  test('an error that a tool returned is amber, not green', async () => {
    const json = JSON.stringify({ content: [{ type: 'text', text: 'no such city' }], isError: true });
    const { taskId } = await runTask(url(), 'returns', { json });
    await open('#/?tool=returns');
    await until('completed: error', '.badge.tool-error');
    expect(await page().$('.badge.completed')).toBeNull();
    await seen('tool-error');
    await open(`#/task/${taskId}`);
    await until('completed: error', 'h1 .badge.tool-error');
    await until('no such city', 'pre[aria-label=Result]');
  });

  test('shows the states of a state machine, with their failed tries over all others', async () => {
    const taskId = await started('ship_order', { fails: 2, hold: 3_600 });
    await open(`#/task/${taskId}`);
    await until('Print label · ', '.waterfall');
    expect(await text('.waterfall')).toMatch(/Charge card · [\d.]+ m?s · 2 of 3 tries failed \(CardRefused\)/);
    const drawn = await page().$$eval('.lane.state + svg', (lanes) =>
      lanes.map((lane) => [...lane.querySelectorAll('rect')].map((rect) => String(rect.getAttribute('class')))),
    );
    expect(drawn.find((kinds) => kinds.includes('failed'))?.slice(-2)).toEqual(['failed', 'failed']);
    await until('no answer to 1', 'section[aria-labelledby=thrown-head]');
    await seen('machine');
    await open(`#/task/${taskId}`, 'dark', PHONE);
    await until('Print label · ', '.waterfall');
    await seen('machine-phone-dark');
    await press('Cancel …');
    await press('Cancel the task');
    await until('cancelled', 'h1');
  });

  test('offers a run again where it is not refused, and leads to the new task', async () => {
    const { taskId: refused } = await runTask(url(), 'throws');
    await open(`#/task/${refused}`);
    await until(/It is not run again here: .* may have had effects already/);
    expect(await page().$$('main button')).toEqual([]);
    const { taskId } = await runTask(url(), 'charge_then_crash', { file: '/dev/null' });
    await open(`#/task/${taskId}`);
    await press('Run it again …');
    await page().keyboard.press('Enter');
    await expect.poll(() => page().evaluate('location.hash')).not.toMatch(`^#/task/${taskId}`);
    await until(`…${taskId.slice(-10)}`);
  });

  test('texts of tools and clients stay texts in every place', async () => {
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
      await until(bad);
      expect(await page().$$('main img')).toEqual([]);
    }
    await open(`#/task/${encodeURIComponent(bad)}?owner=${encodeURIComponent(bad)}`);
    await until('No task', '#problem');
    expect(await page().title()).not.toBe('owned');
    expect(await page().$$('img')).toEqual([]);
    expect(complaints().filter((one) => !one.includes('400'))).toEqual([]);
  });
});
