import { handler } from '../../../functions/examples/render-film.ts';
import { runContext } from '../../../functions/tool/run-context.ts';

/**
 * Runs `render_film` in this process, as a container of Lambda would, as the task that the arguments name. Prints each progress message,
 * then the link of the film and the most memory that the process had taken before and after, in bytes.
 */
const [megabytes, table = '', results = '', owner = '', taskId = ''] = process.argv.slice(2);
const task = { owner, taskId, table, results, round: 1, attempt: 0, deadline: Date.now() + 900_000 };
const event = { name: 'render_film', arguments: { title: 'Rain', megabytes: Number(megabytes) }, task };
const before = process.resourceUsage().maxRSS * 1_024;
const context = {
  ...runContext,
  alive: async () => true,
  async progress(_task: unknown, message: string) {
    console.log(message);
    return true;
  },
};
const { content } = (await handler.runWith(
  { ...event, accepts: [], inputResponses: {}, requestState: null },
  context,
)) as {
  readonly content: readonly object[];
};
console.log(JSON.stringify({ film: content[1], before, memory: process.resourceUsage().maxRSS * 1_024 }));
