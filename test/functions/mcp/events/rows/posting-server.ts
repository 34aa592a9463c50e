import { deliver } from '../../../../../functions/event-delivery/deliver.ts';
import type { Answer, SignedPost } from '../../../../../functions/events/post/post.ts';
import { finished, OWNER } from '../../../events/support.ts';
import { eventsServer } from '../support.ts';

/** A server with MCP Events in memory, and what it posts. */
export function postingServer() {
  const server = eventsServer();
  const { call, subscription, queue, store, clock, writer } = server;
  const posts: SignedPost[] = [];
  const receives = { answer: { status: 204, body: '' } as Answer };
  let done = 0;

  /** Makes one attempt for each message of the queue. */
  async function deliverAll(): Promise<readonly SignedPost[]> {
    for (; done < queue.sent.length; done++) {
      const post = async (one: SignedPost) => {
        posts.push(one);
        return receives.answer;
      };
      const outside = { store, post, hold: undefined, now: () => clock.now, measure: () => {} };
      await deliver(JSON.parse(queue.sent[done]?.body ?? ''), clock.now, outside);
    }
    return posts;
  }
  const polled = (more: object = {}, options = {}, by?: object) =>
    call('events/poll', { name: 'task.finished', ...more }, options, by);
  return {
    ...server,
    ...{ receives, deliverAll, polled },
    subscribed: (more: object = {}, delivery: object = {}, options = {}, by?: object) =>
      call('events/subscribe', subscription(more, delivery), options, by),
    /** The cursor of now. */
    cursor: async (): Promise<string> => (await polled()).result.cursor,
    /** A task of the owner has ended. */
    ends: (n: number, more = {}) => writer().append(OWNER, { at: clock.now, event: finished(n, more) }),
  };
}

/** The tasks of posted events. */
export const tasksOf = (posts: readonly SignedPost[]): string[] =>
  posts.map(({ body }) => JSON.parse(body).data.taskId);
