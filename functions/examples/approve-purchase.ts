import { randomUUID } from 'node:crypto';
import { defineTool, elicitForm, type Task, ToolError } from 'mcp-task-server/tool';

const ADDRESS = { type: 'string', title: 'Mail address', maxLength: 200 } as const;

/** Waits up to two days for a person with a link, who needs no client. Asks the client who that is, if it does not say. */
export const handler = defineTool(
  {
    title: 'Approve a purchase',
    description: 'Mails an approver a link to a form, waits up to two days for the answer, and orders after a yes.',
    taskSupport: 'required',
    inputSchema: {
      type: 'object',
      properties: {
        item: { type: 'string', minLength: 1, maxLength: 200, description: 'What to buy, e.g. "a standing desk".' },
        euros: { type: 'number', minimum: 0, maximum: 100_000, description: 'The price.' },
        approver: { ...ADDRESS, description: 'Who approves it. Default: the tool asks.' },
      },
      required: ['item', 'euros'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        ordered: { type: 'boolean' },
        order: { type: 'string', description: 'The number of the order.' },
        by: { type: 'string', description: 'Who approved it.' },
        note: { type: 'string' },
        reason: { type: 'string', description: 'Why nothing was ordered.' },
      },
      required: ['ordered'],
    },
    // No purchase is made twice: the order is a step, and a run that crashed may be taken up again.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
  async ({ item, euros, approver }, task) => {
    const to = approver ?? (await askApprover(task));
    const note = { type: 'string', title: 'Note', description: 'The buyer reads it.', maxLength: 500 } as const;
    const question = elicitForm(`Buy ${item} for ${euros} euros?`, { note }, ['note']);
    const approval = await task.link('approval', question, { within: { days: 2 } });
    await task.step('mail', () => mail(to, `Please decide within two days: ${approval.url}`, task.signal));
    const { timedOut, action, content, by = to } = await approval.answer();
    if (timedOut) return { ordered: false, reason: `${to} did not answer within two days.` };
    if (action !== 'accept') return { ordered: false, reason: `${by} declined.` };
    const order = await task.step('order', () => `PO-${randomUUID().slice(0, 8)}`);
    return { ordered: true, order, by, ...content };
  },
);

async function askApprover(task: Task): Promise<string> {
  if (!task.accepts.includes('elicitation/create')) throw new ToolError('Say who approves it, as "approver".');
  const { who } = await task.requireInput({ who: elicitForm('Who approves this purchase?', { approver: ADDRESS }) });
  if (who.action !== 'accept') throw new ToolError('Nothing was ordered, as the approver is not known.');
  return who.content.approver;
}

/** Hands a message to a mail service. Without one it is only logged. */
async function mail(to: string, text: string, signal: AbortSignal): Promise<void> {
  const { MAIL_URL } = process.env;
  if (!MAIL_URL) return console.log(`To ${to}: ${text}`);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(MAIL_URL, { method: 'POST', headers, body: JSON.stringify({ to, text }), signal });
  if (!response.ok) throw new Error(`The mail service answered with status ${response.status}`);
}
