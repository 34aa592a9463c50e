import { storeIfLarge } from '../../../functions/tasks/results/large-result.ts';
import type { ToolEvent, ToolResult, ToolReturn } from '../../../functions/tasks/tool-contract.ts';
import { enveloped } from '../../../functions/tool/envelope.ts';

/** Characters of a string that a careless copy would break. */
const PIECE = 'größer 𝄞 "quoted" \\ \u2028 \u0000 </script> \r\n ';
const base64 = (bytes: number) => Buffer.alloc(bytes, PIECE).toString('base64');

/** A result with content of every kind, whose JSON text takes exactly this many bytes. */
export function largeResult(bytes: number, isError = false): ToolResult {
  const share = Math.floor(bytes / 10);
  const result = (filler: string) => ({
    content: [
      { type: 'text', text: filler },
      { type: 'image', data: base64(share), mimeType: 'image/png' },
      { type: 'audio', data: base64(share), mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: PIECE.repeat(share / 100) } },
      { type: 'resource', resource: { uri: 'file:///b', blob: base64(share) } },
      { type: 'resource_link', uri: 'https://example.com/c', name: 'c' },
    ],
    structuredContent: { n: 1, list: Array.from({ length: share / 100 }, (_, i) => ({ i, pi: Math.PI })) },
    ...(isError && { isError }),
  });
  const left = bytes - Buffer.byteLength(JSON.stringify(result('')));
  const pieces = PIECE.repeat(left / (3 * PIECE.length));
  return result(pieces + 'x'.repeat(left - Buffer.byteLength(JSON.stringify(pieces)) + 2));
}

/**
 * `large` stores a large result, as a wrapped tool does; `crashes` stores another size, dies, and is run again;
 * `differs` returns another size in each run; `promise` has an outputSchema; `raw` returns its argument.
 */
export async function handler(event: ToolEvent): Promise<unknown> {
  return enveloped(event, (await run(event)) as ToolReturn);
}

async function run({ name, arguments: args, task }: ToolEvent): Promise<unknown> {
  const bytes = Number(args.bytes);
  if (name === 'raw') return args.value;
  if (name === 'crashes' && task?.attempt === 0) {
    await storeIfLarge(largeResult(bytes + 1), task);
    process.exit(1);
  }
  if (name === 'large' || name === 'crashes') return storeIfLarge(largeResult(bytes, args.isError === true), task);
  if (name === 'differs') return storeIfLarge(largeResult(bytes + Math.floor(Math.random() * 1_000)), task);
  const structuredContent = args.broken === true ? { n: 'not a number' } : { n: 1 };
  return storeIfLarge({ ...largeResult(bytes), structuredContent }, task);
}
