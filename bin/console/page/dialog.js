import { html, render } from './lit-html.js';

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('dialog'));

/**
 * Asks for a reason. Undefined: it was not given.
 *
 * @param {{ title: string, text: string, button: string, force?: string, optional: boolean }} what
 * @returns {Promise<{ reason: string, force: boolean } | undefined>}
 */
export function askReason({ title, text, button, force, optional }) {
  return new Promise((resolve) => {
    /** @param {{ reason: string, force: boolean }} [given] */
    const end = (given) => {
      dialog.close();
      render(null, dialog);
      resolve(given);
    };
    /** @param {SubmitEvent} event */
    const submit = (event) => {
      event.preventDefault();
      const data = new FormData(/** @type {HTMLFormElement} */ (event.target));
      end({ reason: String(data.get('reason') ?? ''), force: data.has('force') });
    };
    const forced =
      force === undefined ? null : html`<label class="check"><input type="checkbox" name="force" /> ${force}</label>`;
    render(
      html`<form @submit=${submit}>
        <h2 id="dialog-title">${title}</h2>
        <p>${text}</p>
        <label>Reason${optional ? ' (optional)' : ''}, for the audit log
          <input name="reason" maxlength="200" autocomplete="off" ?required=${!optional} />
        </label>
        ${forced}
        <div class="buttons">
          <button type="button" @click=${() => end()}>Leave it</button>
          <button class="main">${button}</button>
        </div>
      </form>`,
      dialog,
    );
    dialog.oncancel = (event) => {
      event.preventDefault();
      end();
    };
    dialog.showModal();
    dialog.querySelector('input')?.focus();
  });
}
