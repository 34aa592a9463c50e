import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';

/** The only style of the page. Its hash is in the policy that the browser gets, so no other one counts. */
const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --quiet: #57606a; --line: #8c959f; --back: #ffffff; --panel: #f6f8fa; --main: #0550ae; --on: #ffffff; --wrong: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --quiet: #9aa4af; --line: #6e7681; --back: #0d1117; --panel: #161b22; --main: #79b8ff; --on: #0d1117; --wrong: #ffa198; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 100%/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.375rem; line-height: 1.25; margin: 0 0 1rem; }
.server, .hint, .by { color: var(--quiet); margin: 0 0 .25rem; }
.message { white-space: pre-wrap; background: var(--panel); border-left: 4px solid var(--main); padding: .75rem 1rem; margin: 0 0 1rem; }
fieldset, .field { border: 0; margin: 0 0 1.25rem; padding: 0; min-width: 0; }
legend, label { display: block; font-weight: 600; padding: 0; margin: 0 0 .25rem; }
.choice label { display: flex; gap: .625rem; align-items: flex-start; font-weight: 400; min-height: 2.75rem; padding: .5rem 0; margin: 0; }
.choice input { flex: none; width: 1.375rem; height: 1.375rem; margin: 0; accent-color: var(--main); }
.text { width: 100%; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: .375rem; padding: .625rem .75rem; min-height: 2.75rem; }
.text + .text { margin-top: .5rem; }
.text[aria-invalid] { border: 2px solid var(--wrong); }
.wrong { color: var(--wrong); font-weight: 600; margin: .25rem 0 0; }
.summary { border: 2px solid var(--wrong); border-radius: .375rem; padding: .75rem 1rem; margin: 0 0 1rem; }
.summary p, .summary ul { margin: 0; }
a { color: var(--main); }
.acts { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
button { flex: 1 1 8rem; font: inherit; font-weight: 600; min-height: 3rem; padding: .5rem 1rem; border-radius: .375rem; border: 2px solid var(--main); background: var(--main); color: var(--on); cursor: pointer; }
button.other { background: transparent; color: var(--main); }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
dl { margin: 0; } dt { font-weight: 600; } dd { margin: 0 0 .75rem; white-space: pre-wrap; }
`;

export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

/** A page. It needs no script, and loads nothing. */
export const page = (title: string, content: Html | string): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
${content === '' ? html`<h1>${title}</h1>` : content}
</main>
</body>
</html>
`.text;
