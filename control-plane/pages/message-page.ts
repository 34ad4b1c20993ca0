// A page with one message and at most one form: the response to a form.
import { type Html, html } from '#shared/html.ts';
import { type Frame, page } from './page.ts';

/** `action` is below the text: a form, or a link back. */
export function messagePage(
  frame: Pick<Frame, 'serviceName' | 'files'>,
  { title, text, action }: { title: string; text: string; action: Html },
): string {
  return page(
    { ...frame, title: `${title} (${frame.serviceName})`, description: text, isInteractive: false },
    html`<div class="wide message"><h1>${title}</h1><p class="lead">${text}</p>${action}</div>`,
  );
}
