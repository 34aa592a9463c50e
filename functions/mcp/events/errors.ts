import { McpError } from '../../tasks/errors.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Call } from '../context.ts';
import { EVENTS_EXTENSION, meta } from '../protocol/versions.ts';

/** The codes of the design sketch, which ChatGPT follows, and of SEP-3415. */
const CODES = {
  NotFound: { sketch: -32011, sep: -32023 },
  Forbidden: { sketch: -32012, sep: -32024 },
  ResourceExhausted: { sketch: -32013, sep: -32025 },
  Unsupported: { sketch: -32014, sep: -32026 },
  CallbackEndpointError: { sketch: -32015, sep: -32027 },
} as const;

/** An error of MCP Events. Its message is its name, since the numbers differ between two drafts. */
export class EventsError extends McpError {
  constructor(call: Pick<Call, 'params'>, name: keyof typeof CODES, data: object) {
    super(CODES[name][declaresEvents(call) ? 'sep' : 'sketch'], name, { data });
  }
}

/** Whether the client declares the extension. Those that follow the older draft do not. */
export function declaresEvents({ params: { _meta } }: Pick<Call, 'params'>): boolean {
  const capabilities = isObject(_meta) ? _meta[meta.clientCapabilities] : undefined;
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined;
  return isObject(extensions) && isObject(extensions[EVENTS_EXTENSION]);
}
