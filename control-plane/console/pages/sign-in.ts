// Where an operator shows the key.
import { html } from '#shared/html.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { framed } from './frame.ts';
import { MARK } from './signs.ts';

export const signInPage = ({
  serviceName,
  to,
  problem,
}: {
  serviceName: string;
  to: string;
  problem: string | undefined;
}): string =>
  framed(
    { title: 'Sign in', serviceName, session: undefined, place: '' },
    html`<form class="door" method="post" action="/sign-in">
<p class="brand">${MARK}<span>${serviceName}</span></p>
<h1>Console</h1>
<label>Operator key<input type="password" name="key" required autofocus autocomplete="current-password" maxlength="100" spellcheck="false"${
      problem === undefined ? '' : html` aria-invalid="true" aria-describedby="problem"`
    }></label>
${problem === undefined ? '' : html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<input type="hidden" name="to" value="${to}">
<button>Sign in</button>
<p class="quiet">To create a key, run this on the host of the service: <code>${ownCommand('control-plane')} operator add &lt;name&gt;</code></p>
</form>`,
  );
