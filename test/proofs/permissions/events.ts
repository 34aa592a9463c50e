import { verbsOn } from '../../bin/tasks/verbs.ts';
import { startReceiver } from '../../cloud/events/receiver.ts';
import { ask, type Deployed, reaches, start } from './deployed.ts';

/**
 * A client subscribes, hears of its tasks after an attempt that fails, polls and ends its subscription. Operators see another one, read
 * the log of deliveries, and end it.
 */
export async function events(deployed: Deployed): Promise<void> {
  const { cloud, lines, until } = deployed;
  let attempts = 0;
  const receiver = await startReceiver(() => (attempts++ === 0 ? 503 : 204));
  const { url, secret, received } = receiver;
  const wanted = (args: object, more = '') => ({
    ...{ name: 'task.finished', arguments: args },
    delivery: { mode: 'webhook', url: `${url}${more}`, secret },
  });
  try {
    const subscription = wanted({ tool: 'work' });
    const { cursor } = await ask(deployed, 'events/subscribe', subscription);
    const { taskId } = await reaches(deployed, await start(deployed, 'work', {}), 'completed');
    const told = async (what: string, count: number) => {
      await until(what, () => (received.length >= count ? true : undefined));
      const data = received.at(-1)?.body.data as { readonly taskId: string };
      if (data.taskId !== taskId) throw new Error(`${what}: another task`);
    };
    await told('an event, and again', 2);
    await until('the log of deliveries', () => lines.find((line) => /EventsFunction.*"result":"delivered"/.test(line)));

    // Its task has ended before it begins: the endpoint puts its event into the queue.
    const { id } = await ask(deployed, 'events/subscribe', wanted({ taskId }, '&second'));
    await told('the event of a task that has ended', 3);
    const { events: polled } = await ask(deployed, 'events/poll', { name: 'task.finished', cursor });
    if (polled.length !== 1) throw new Error(`events/poll: ${JSON.stringify(polled)}`);
    await ask(deployed, 'events/unsubscribe', subscription);

    const as = (role: string) => verbsOn(() => cloud, role);
    const [reader, operator] = [as('Reader'), as('Operator')];
    const shown = async (...args: string[]) => (await reader(...args, '--json')).json();
    const { owner, deliveries } = await shown('show', taskId);
    if (deliveries?.[0]?.subscription !== id) throw new Error(`show: ${JSON.stringify(deliveries)}`);
    const all = async () => (await shown('subscriptions', '--owner', owner)).subscriptions;
    const listed = await all();
    if (listed.length !== 1 || listed[0].id !== id) throw new Error(`subscriptions: ${JSON.stringify(listed)}`);
    const { out } = await operator('subscriptions', taskId, '--payload');
    if (!out.includes(url)) throw new Error(`subscriptions --payload: ${out}`);
    if (!(await reader('logs', '--part', 'deliveries')).out.includes(id)) throw new Error('no line of a delivery');
    const { code, err } = await operator('unsubscribe', id, '--owner', owner, '--reason', 'a proof');
    if (code !== 0 || (await all()).length > 0) throw new Error(`unsubscribe: ${err}`);
  } finally {
    await receiver.stop();
  }
}
