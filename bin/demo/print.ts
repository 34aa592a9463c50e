import { styleText } from 'node:util';

const BAR = 20;
const WIDTH = Math.min(100, process.stdout.columns || 100);
const terminal = process.stdout.isTTY;
/** Whether the last line is a progress that the next one replaces. */
let open = false;

export const title = (text: string) => print(`\n${styleText('bold', cut(text))}`);
export const note = (text: string) => print(styleText('dim', cut(text)));
export const say = (text: string) => print(text.split('\n').map(cut).join('\n'));
export const warn = (text: string) => void process.stderr.write(open ? `\n${text}` : text);

/** Shows progress on one line of a terminal. Elsewhere each message is a line, unless only its numbers are new. */
export function progressBar(): (message: string) => void {
  let shown = '';
  return (message) => {
    const words = terminal ? message : message.replace(/\d+/g, '');
    if (words === shown) return;
    shown = words;
    const line = cut(`${bar(fractionOf(message))} ${message}`);
    process.stdout.write(terminal ? `\r\u001b[K${line}` : `${line}\n`);
    open = terminal;
  };
}

export const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');

const cut = (line: string): string => (line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line);

function print(text: string): void {
  console.log(open ? `\n${text}` : text);
  open = false;
}

/** The part that is done, from "3/12" in a message. Undefined for a status without numbers. */
function fractionOf(message: string): number | undefined {
  const [, done, total] = /(\d+)\/(\d+)/.exec(message) ?? [];
  return total === undefined ? undefined : Math.min(1, Number(done) / Number(total));
}

function bar(fraction?: number): string {
  if (fraction === undefined) return '  …';
  const full = Math.round(fraction * BAR);
  return `[${'█'.repeat(full)}${'·'.repeat(BAR - full)}]`;
}
