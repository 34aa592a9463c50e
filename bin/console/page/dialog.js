import { html, render } from './lit-html.js';

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('dialog'));

/**
 * Asks for a reason; undefined if the operator gives none.
 *
 * @param {{ title: string, text: string, button: string, optional: boolean }} what
 * @returns {Promise<string | undefined>}
 */
export function askReason({ title, text, button, optional }) {
  return new Promise((resolve) => {
    /** @param {string} [given] */
    const end = (given) => {
      dialog.close();
      render(null, dialog);
      resolve(given);
    };
    /** @param {SubmitEvent} event */
    const submit = (event) => {
      event.preventDefault();
      end(String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('reason') ?? ''));
    };
    render(
      html`<form @submit=${submit}>
        <h2 id="dialog-title">${title}</h2>
        <p>${text}</p>
        <label>Reason${optional ? ' (optional)' : ''}, for the audit log
          <input name="reason" maxlength="200" autocomplete="off" ?required=${!optional} />
        </label>
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
