import { verbsOn } from '../../bin/tasks/verbs.ts';
import { startReceiver } from '../../cloud/events/receiver.ts';
import { ask, type Deployed, reaches, start } from './deployed.ts';

/**
 * A client subscribes, hears of two tasks after attempts that fail, polls and ends its subscription. Operators see another one, read
 * the log of deliveries, and end it.
 */
export async function events(deployed: Deployed): Promise<void> {
  const { cloud, lines, until } = deployed;
  let attempts = 0;
  const both = Promise.withResolvers<void>();
  const taken: unknown[] = [];
  const receiver = await startReceiver(async ({ body }) => {
    if (attempts++ === 0) return 503;
    // The second event waits behind the first one.
    await both.promise;
    taken.push(body.eventId);
    return 204;
  });
  const { url, secret, received } = receiver;
  const wanted = (args: object, more = '') => ({
    ...{ name: 'task.finished', arguments: args },
    delivery: { mode: 'webhook', url: `${url}${more}`, secret },
  });
  try {
    const subscription = wanted({ tool: 'work' });
    const { cursor } = await ask(deployed, 'events/subscribe', subscription);
    // The first event cannot be put into the log at once: its message comes again.
    const isEntry = ({ input }: { readonly input: unknown }) => JSON.stringify(input).includes('#event#');
    cloud.faults.add({
      ...{ service: 'dynamodb', operation: 'PutItem', caller: 'ServerEventsFunction', times: 1, when: isEntry },
      do: { error: 'ValidationException' },
    });
    // The first new event is refused where it goes at first: it is kept in the second partition.
    const isNew = ({ input }: { readonly input: unknown }) => JSON.stringify(input).includes('events#new#owner#');
    cloud.faults.add({
      ...{ service: 'dynamodb', operation: 'PutItem', caller: 'ServerTaskEvents', times: 1, when: isNew },
      do: { error: 'ThrottlingException' },
    });
    const work = async () => (await reaches(deployed, await start(deployed, 'work', {}), 'completed')).taskId;
    const [taskId] = [await work(), await work()];
    const told = async (what: string, expected: readonly unknown[]) => {
      await until(what, () => (taken.length >= expected.length ? true : undefined));
      if (taken.join() !== expected.join()) throw new Error(`${what}: ${taken.join()}`);
    };
    const eventIds = await until('two events in the log', async () => {
      const { events: logged } = await ask(deployed, 'events/poll', { name: 'task.finished', cursor });
      return logged.length === 2 ? logged.map(({ eventId }: { readonly eventId: string }) => eventId) : undefined;
    });
    await until('an event, and again', () => (received.length > 1 ? true : undefined));
    both.resolve();
    await told('the next event', eventIds);
    await until('the log of deliveries', () => lines.find((line) => /EventsFunction.*"result":"delivered"/.test(line)));

    // Its task has ended before it begins: the endpoint puts its event into the queue.
    const { id } = await ask(deployed, 'events/subscribe', wanted({ taskId }, '&second'));
    await until('the event of a task that has ended', () => (taken.length === 3 ? true : undefined));
    if (!eventIds.includes(taken[2])) throw new Error('the event of a task that has ended: another one');
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
    if (!out.includes(new URL(url).host)) throw new Error(`subscriptions --payload: ${out}`);
    if (!(await reader('logs', '--part', 'deliveries')).out.includes(id)) throw new Error('no line of a delivery');
    const { code, err } = await operator('unsubscribe', id, '--owner', owner, '--reason', 'a proof');
    if (code !== 0 || (await all()).length > 0) throw new Error(`unsubscribe: ${err}`);
  } finally {
    await receiver.stop();
  }
}
