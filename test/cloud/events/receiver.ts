import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { close, listen } from '../../../local/testing.ts';

export interface Received {
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

/** A receiver on this machine. It answers 401 to what is not signed with its secret. */
export async function startReceiver(status: (received: Received) => number | Promise<number> = () => 204) {
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  const received: Received[] = [];
  let heard = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    try {
      const body = new Webhook(secret).verify(text, headers) as Received['body'];
      if (body.type === 'verification') return void response.end(JSON.stringify({ challenge: body.challenge }));
      received.push({ headers, body });
      heard.resolve();
      heard = Promise.withResolvers();
      response.writeHead(await status({ headers, body })).end();
    } catch {
      response.writeHead(401).end();
    }
  });
  const url = `${await listen(server, 0)}/hook?key=1`;
  return {
    url,
    secret,
    received,
    /** Resolves once it has so many requests. */
    async until(count: number): Promise<readonly Received[]> {
      while (received.length < count) await heard.promise;
      return received;
    },
    stop: () => close(server),
  };
}
