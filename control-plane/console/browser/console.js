// Makes the pages quicker than they are without: changes as they happen, times of this clock, questions in a dialog, keys.
const { topic, version } = document.body.dataset;

/* Times in the reader's zone, which the page names. */
const today = (date) => date.toDateString() === new Date().toDateString();
const localTime = (date) =>
  today(date)
    ? date.toLocaleTimeString(undefined, { hour12: false })
    : date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short', hour12: false });
function nameZone() {
  const place = document.getElementById('zone');
  if (place === null) return;
  const minutes = -new Date().getTimezoneOffset();
  const hours = Math.trunc(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  const offset = `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  place.textContent = timeZone === 'UTC' ? timeZone : `${timeZone} (${minutes === 0 ? 'UTC' : offset})`;
}
nameZone();
function localTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]:not([title])')) {
    const date = new Date(time.dateTime);
    time.title = time.dateTime;
    time.textContent = `${today(date) ? 'today ' : ''}${localTime(date)}`;
  }
}
localTimes(document);

/* Parts of the page that have changed. */
function focusAfter(old) {
  const focused = document.activeElement;
  if (!old.contains(focused)) return () => undefined;
  const href = focused.getAttribute('href');
  return (fresh) => {
    const again =
      (focused.id && document.getElementById(focused.id)) ||
      (href && fresh.querySelector(`a[href="${CSS.escape(href)}"]`)) ||
      fresh;
    again.focus({ preventScroll: true });
  };
}

function replacePart([id, text]) {
  const old = document.getElementById(id);
  if (old === null) return;
  const template = document.createElement('template');
  template.innerHTML = text;
  const fresh = template.content.firstElementChild;
  const focus = focusAfter(old);
  if (old.classList.contains('slot') && old.className !== fresh.className) fresh.classList.add('changed');
  localTimes(template.content);
  old.replaceWith(fresh);
  focus(fresh);
  document.dispatchEvent(new CustomEvent('replaced', { detail: fresh }));
}

const live = document.getElementById('live');
let seen = version;
let stream;
/* When what is shown was so; undefined while it is. */
let shownOf;

function announce(text, isLost) {
  if (live.textContent === text) return;
  live.hidden = false;
  live.textContent = text;
  live.classList.toggle('lost', isLost);
}

function announceCurrent() {
  shownOf = undefined;
  announce('Live', false);
}

function announceOutdated(since) {
  shownOf ??= since;
  announce(`Outdated: as of ${localTime(shownOf)}`, true);
}

function listen() {
  if (stream !== undefined || document.hidden) return;
  stream = new EventSource(`/live?${new URLSearchParams({ topic, after: seen })}`);
  stream.onopen = announceCurrent;
  stream.onmessage = ({ data, lastEventId }) => {
    seen = lastEventId;
    for (const part of JSON.parse(data)) replacePart(part);
  };
  stream.addEventListener('old', ({ data }) => announceOutdated(new Date(data)));
  stream.addEventListener('current', announceCurrent);
  stream.addEventListener('ended', () => {
    stop();
    location.reload();
  });
  stream.onerror = () => {
    announceOutdated(new Date());
    // A browser gives up when it is answered with an error, such as that of a session that is over.
    if (stream.readyState !== EventSource.CLOSED) return;
    stop();
    setTimeout(listen, 3000);
  };
}

function stop() {
  stream?.close();
  stream = undefined;
}

if (topic !== undefined) {
  listen();
  // Browsers open few connections to one host: a hidden page needs none.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) return listen();
    announceOutdated(new Date());
    stop();
  });
  addEventListener('pagehide', stop);
}

/* Questions, here rather than on a page of their own. */
document.addEventListener('click', async (event) => {
  const link = event.target.closest?.('a[data-dialog]');
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const response = await fetch(link.href, { signal: AbortSignal.timeout(10000) });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const question = page.querySelector('form.confirm');
    if (!response.ok || question === null) throw new Error('no question');
    ask(document.importNode(question, true), link);
  } catch {
    location.assign(link.href);
  }
});

function ask(question, link) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'question');
  dialog.append(question);
  document.body.append(dialog);
  question.querySelector('a.cancel')?.addEventListener('click', (event) => {
    event.preventDefault();
    dialog.close();
  });
  question.addEventListener('submit', () => {
    question.querySelector('button.go').disabled = true;
  });
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (link.isConnected) link.focus();
  });
  dialog.showModal();
}

/* Keys: "/" goes to the search, arrows go from slot to slot. */
const isTyping = ({ target }) => /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName ?? '');

function neighbour(slot, key) {
  const slots = [...document.querySelectorAll('.slot')];
  const index = slots.indexOf(slot);
  if (key === 'ArrowLeft') return slots[index - 1];
  if (key === 'ArrowRight') return slots[index + 1];
  const here = slot.getBoundingClientRect();
  const others = key === 'ArrowDown' ? slots.slice(index + 1) : slots.slice(0, index).reverse();
  const rows = others.filter((other) => Math.abs(other.getBoundingClientRect().top - here.top) > 4);
  const top = rows[0]?.getBoundingClientRect().top;
  const row = rows.filter((other) => Math.abs(other.getBoundingClientRect().top - top) <= 4);
  const distance = (other) => Math.abs(other.getBoundingClientRect().left - here.left);
  return row.sort((a, b) => distance(a) - distance(b))[0];
}

document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event)) return;
  if (event.key === '/') {
    event.preventDefault();
    document.querySelector('.find input')?.focus();
    return;
  }
  if (!event.key.startsWith('Arrow') || !event.target.classList?.contains('slot')) return;
  const next = neighbour(event.target, event.key);
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
});
