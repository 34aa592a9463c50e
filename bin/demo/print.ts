const BAR = 30;
const terminal = process.stdout.isTTY;
const style = (code: number, text: string) => (terminal ? `\u001b[${code}m${text}\u001b[0m` : text);

export const title = (text: string) => console.log(`\n${style(1, text)}`);
export const note = (text: string) => console.log(style(2, text));

/** A bar that stays on one line of a terminal, and is a line per change elsewhere. */
export function progressBar(): { show(message: string): void; end(): void } {
  let shown = '';
  return {
    show(message) {
      if (message === shown) return;
      shown = message;
      const line = `${bar(fractionOf(message))} ${message}`;
      process.stdout.write(terminal ? `\r\u001b[K${line}` : `${line}\n`);
    },
    end() {
      if (terminal) process.stdout.write('\n');
    },
  };
}

export function indent(text: string, lines = 40): string {
  return text
    .split('\n')
    .slice(0, lines)
    .map((line) => `  ${line}`)
    .join('\n');
}

/** Messages count their steps as "3/12" or "40,000 of 100,000"; a task's status has no number. */
function fractionOf(message: string): number | undefined {
  const [, done, total] = /([\d,]+)\s*(?:\/|of)\s*([\d,]+)/.exec(message) ?? [];
  if (done === undefined || total === undefined) return undefined;
  return Math.min(1, Number(done.replaceAll(',', '')) / Number(total.replaceAll(',', '')));
}

function bar(fraction: number | undefined): string {
  if (fraction === undefined) return `[${'·'.repeat(BAR)}]`;
  const full = Math.round(fraction * BAR);
  return `[${'█'.repeat(full)}${'·'.repeat(BAR - full)}]`;
}
