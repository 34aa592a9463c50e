import { styleText } from 'node:util';

const BAR = 20;
const WIDTH = Math.min(100, process.stdout.columns || 100);
const terminal = process.stdout.isTTY;

export const title = (text: string) => console.log(`\n${styleText('bold', cut(text))}`);
export const note = (text: string) => console.log(styleText('dim', cut(text)));
export const say = (text: string) => console.log(text.split('\n').map(cut).join('\n'));
/** Prints to stderr, below a bar that may be on the last line. */
export const warn = (text: string) => void process.stderr.write(terminal ? `\n${text}` : text);

/** A bar on one line of a terminal. Elsewhere each message is a line, unless only its numbers are new. */
export function progressBar(): { show(message: string): void; end(): void } {
  let shown = '';
  return {
    show(message) {
      const words = terminal ? message : message.replace(/\d+/g, '');
      if (words === shown) return;
      shown = words;
      const line = cut(`${bar(fractionOf(message))} ${message}`);
      process.stdout.write(terminal ? `\r\u001b[K${line}` : `${line}\n`);
    },
    end() {
      if (terminal && shown !== '') process.stdout.write('\n');
    },
  };
}

export const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');

const cut = (line: string): string => (line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line);

/** The part that is done, from "3/12" in a message. Undefined for a status without numbers. */
function fractionOf(message: string): number | undefined {
  const [, done, total] = /(\d+)\/(\d+)/.exec(message) ?? [];
  return total === undefined ? undefined : Math.min(1, Number(done) / Number(total));
}

function bar(fraction = 0): string {
  const full = Math.round(fraction * BAR);
  return `[${'█'.repeat(full)}${'·'.repeat(BAR - full)}]`;
}
