import { describe, expect, test } from 'vitest';
import { ended, poll } from '../../support/clients.ts';
import { CHROMIUM } from './browser.ts';
import { send } from './console.ts';
import { PHONE, usePage, WIDE } from './page.ts';

const { url, console_, deployed, page, complaints, open, seen, until, press, started } = usePage();

/** Names that members of a form have, or fields of the page itself, or that objects inherit. */
const HOSTILE = [
  ...['elements', 'reason', 'console reason', 'submit', 'reportValidity', 'requestSubmit', 'field.0', 'closest'],
  ...['__proto__', 'constructor', 'toString', 'querySelector'],
];

/** A task that asks for text in fields of these names, each with a default. Returns its id. */
async function asked(names: readonly string[]): Promise<string> {
  const properties = Object.fromEntries(
    names.map((name) => [name, { type: 'string', default: `the ${name} of a tool` }]),
  );
  const params = { message: 'Sure?', requestedSchema: { type: 'object', properties, required: names } };
  const inputRequests = { sure: { method: 'elicitation/create', params } };
  const taskId = await started('returns', { json: JSON.stringify({ inputRequests }) });
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  return taskId;
}

/** The answers of a task, as the console shows them. */
async function answersOf(taskId: string) {
  const { port, token } = console_();
  return (await send(port, `/${token}/api/payload?id=${taskId}`)).json().answers?.sure;
}

describe.skipIf(CHROMIUM === undefined)('the questions of a tool on the page in Chromium', () => {
  test("fields of a tool have any names, and the reason is the operator's", async () => {
    const taskId = await asked(HOSTILE);
    await open(`#/task/${taskId}`, 'light', WIDE, deployed());
    await press('Show the questions, to answer them');
    await until('Sure?');
    await seen('question-names');
    const fields = await page().$$eval('.question form:not(.reason) input', (all) =>
      all.map((one) => String(one.getAttribute('name'))),
    );
    expect(fields).toEqual(HOSTILE.map((_, i) => `field.${i}`));
    // Without a reason nothing is sent, although all fields of the tool are filled.
    const before = deployed().acts.length;
    await press('Answer');
    await press('Decline');
    expect(deployed().acts).toHaveLength(before);
    await page().type('.question .reason input', 'INC-7');
    await page().keyboard.press('Enter');
    await until('Answered', '#said');
    expect(deployed().acts.at(-1)).toMatchObject({ act: 'answer', taskId, reason: 'INC-7', done: true });
    const content = Object.entries((await answersOf(taskId)).content);
    expect(content).toEqual(HOSTILE.map((name) => [name, `the ${name} of a tool`]));
    expect(complaints()).toEqual([]);
  });

  test('a question whose fields hide members of a form can be declined', async () => {
    const taskId = await asked(HOSTILE);
    await open(`#/task/${taskId}`, 'dark', PHONE, deployed());
    await press('Show the questions, to answer them');
    await until('Sure?');
    await page().type('.question .reason input', 'INC-8');
    await press('Decline');
    await until('Answered', '#said');
    expect(deployed().acts.at(-1)).toMatchObject({ act: 'answer', taskId, reason: 'INC-8', done: true });
    expect(await answersOf(taskId)).toEqual({ action: 'decline' });
    expect(complaints()).toEqual([]);
  });

  test('in dev no reason is asked for, and an empty field that is needed is named by the browser', async () => {
    const taskId = await asked(['submit']);
    await open(`#/task/${taskId}`);
    await until('Sure?');
    expect(await page().$('.reason')).toBeNull();
    await page().$eval('.question input', (input) => Object.assign(input, { value: '' }));
    const before = console_().acts.length;
    await press('Answer');
    expect(await page().$$('.question input:invalid')).toHaveLength(1);
    expect(console_().acts).toHaveLength(before);
    await page().type('.question input', 'sesame');
    await page().keyboard.press('Enter');
    await until('Answered', '#said');
    expect(await answersOf(taskId)).toEqual({ action: 'accept', content: { submit: 'sesame' } });
  });

  test('a question may name any address: only one of the web is a link', async () => {
    const taskId = await started('ask_url');
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    await open(`#/task/${taskId}`);
    await until('https://example.com/login');
    const links = await page().$$eval('main a', (all) => all.map((one) => String(one.getAttribute('href'))));
    expect(links.filter((href) => !href.startsWith('#'))).toEqual(['https://example.com/login']);
    await press('Decline');
    await poll(url(), taskId, ended);
  });
});
