// Improves the page with scripts: the demo, copy buttons, the waitlist form, the number of available numbers.
const find = (selector) => document.querySelector(selector);

async function ask(path, body) {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(15000),
  });
  const answer = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer;
  throw new Error(answer?.message ?? `the server responded with ${response.status}`);
}

for (const button of document.querySelectorAll('.copy')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const { textContent } = button.closest('.code').querySelector('pre');
    const done = await navigator.clipboard.writeText(textContent).then(() => 'Copied', () => 'Not allowed');
    button.textContent = done;
    setTimeout(() => { button.textContent = 'Copy'; }, 1600);
  });
}

const bubble = (kind, text) => {
  const element = document.createElement('p');
  element.className = kind === 'note' ? 'note' : `bubble ${kind}`;
  element.textContent = text;
  return element;
};

const run = find('#run');
run.hidden = false;
run.addEventListener('click', async () => {
  run.disabled = true;
  const screen = find('#screen');
  try {
    const { simulated_subscribe: got, simulated_send: sent, simulated_receive: received, note } = await ask('/demo', {});
    find('#plate').textContent = got.number;
    screen.replaceChildren(
      bubble('note', `POST /subscribe → 200, until ${got.expires_at.slice(0, 10)}`),
      bubble('out', 'Hello from my agent.'),
      bubble('note', `POST /sms/send → ${sent.status}, ${sent.message_id}`),
      ...received.messages.map(({ body }) => bubble('in', body)),
      bubble('note', `GET /sms/receive → count ${received.count}`),
      bubble('note', note),
    );
  } catch (error) {
    screen.replaceChildren(bubble('note', `The demo failed: ${error.message}`));
  }
  run.disabled = false;
});

const form = find('#waitlist-form');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const output = find('#waitlist-answer');
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    const { registered_at: at } = await ask('/waitlist', { email: form.elements.email.value });
    output.textContent = `You are on the list, since ${at.slice(0, 10)}.`;
  } catch (error) {
    output.textContent = `Your address was not added: ${error.message}`;
  }
  button.disabled = false;
});

const left = find('#left');
const look = async () => {
  if (document.hidden) return;
  try {
    const { available } = await ask('/availability');
    left.textContent = available;
    left.parentElement.className = available > 0 ? 'some' : 'none';
  } catch {}
};
setInterval(look, 30000);
document.addEventListener('visibilitychange', look);
