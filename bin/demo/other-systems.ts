import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { close, listen } from '../../local/loopback.ts';

export type Message = Readonly<Record<string, string>>;

/** The other systems of the examples, on this machine: one takes mails, the other one jobs. */
export interface OtherSystems {
  /** The variables by which `bin/app.ts` finds them. */
  readonly env: Readonly<Record<'MAIL_URL' | 'TRAINER_URL', string>>;
  /** The next message that comes, as JSON. */
  next(from: '/mail' | '/jobs'): Promise<Message>;
  stop(): Promise<void>;
}

export async function startOtherSystems(): Promise<OtherSystems> {
  const waiting = new Map<string | undefined, (message: Message) => void>();
  const server = createServer(async (request, response) => {
    waiting.get(request.url)?.(JSON.parse(await text(request)));
    response.end();
  });
  const url = await listen(server, 0);
  return {
    env: { MAIL_URL: `${url}/mail`, TRAINER_URL: `${url}/jobs` },
    next: (from) => new Promise((resolve) => waiting.set(from, resolve)),
    stop: () => close(server),
  };
}
