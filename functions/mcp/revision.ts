import type { ServerContext } from './context.ts';
import type { HttpReply } from './http/http.ts';
import type { Sender } from './identity/session.ts';
import type { RpcNotification, RpcRequest, RpcResponse } from './protocol/jsonrpc.ts';

/** What a kind of revision does with what a client sends. */
export interface Revision {
  /** `version`: the one that the request names. */
  answer(message: RpcRequest, version: string, sender: Sender, server: ServerContext): Promise<HttpReply>;
  /** @default notifications change nothing */
  notice?(message: RpcNotification, sender: Sender, server: ServerContext): Promise<void>;
  /** Takes an answer to a question of the server. @default the server asks nothing that can be answered so */
  accept?(message: RpcResponse, sender: Sender, server: ServerContext): Promise<void>;
  /** Opens or resumes a stream by GET. @default GET is not offered */
  stream?(sender: Sender, server: ServerContext): Promise<HttpReply>;
}
