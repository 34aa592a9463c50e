/** One event of a stream. `data` is the JSON of its data lines, or '' for an event that only has an id or a retry. */
export interface SseEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: unknown | '';
  readonly retry?: number;
}

const LINE_END = /\r\n|\n|\r/;

/** The events of a text/event-stream body as they arrive. Leaving the loop closes the connection. */
export async function* readSse(response: Response): AsyncGenerator<SseEvent, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let fields: string[] = [];
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      // A CR at the end may be half of a line end.
      const complete = done || !rest.endsWith('\r');
      const lines = (complete ? rest : rest.slice(0, -1)).split(LINE_END);
      rest = (lines.pop() ?? '') + (complete ? '' : '\r');
      for (const line of lines) {
        if (line !== '') fields.push(line);
        else {
          const event = parseEvent(fields);
          fields = [];
          if (event !== undefined) yield event;
        }
      }
      // Lines without an empty line after them are not an event: the stream broke off.
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parseEvent(lines: readonly string[]): SseEvent | undefined {
  const fields: Record<string, string[]> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === '') continue;
    fields[name] = [...(fields[name] ?? []), value];
  }
  const { id, event, data, retry } = fields;
  if (id === undefined && event === undefined && data === undefined && retry === undefined) return undefined;
  const pause = retry?.findLast((value) => /^\d+$/.test(value));
  return {
    ...(id !== undefined && { id: id.at(-1) ?? '' }),
    ...(event !== undefined && { event: event.at(-1) ?? '' }),
    data: parseData((data ?? []).join('\n')),
    ...(pause !== undefined && { retry: Number(pause) }),
  };
}

function parseData(text: string): unknown {
  try {
    return text === '' ? '' : JSON.parse(text);
  } catch {
    throw new Error(`The data of an event is not JSON: ${text.slice(0, 500)}`);
  }
}
