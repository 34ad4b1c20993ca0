// Keeps the page as the node is: asks for it anew and changes what differs, and nothing else, so that nothing flickers.
const EVERY_MS = 3000;
const TIMEOUT_MS = 10000;
const away = document.getElementById('away');

/** Parts that are the same stay as they are, with the focus and the selection in them. */
function update(now, next) {
  if (now.outerHTML === next.outerHTML) return;
  if (!next.hasAttribute('data-live-children')) {
    replace(now, next);
    return;
  }
  const ids = (element) => [...element.children].map(({ id, className }) => id || className).join('\n');
  if (ids(now) !== ids(next)) {
    replace(now, next);
    return;
  }
  const children = [...next.children];
  [...now.children].forEach((child, index) => update(child, children[index]));
}

function replace(now, next) {
  const focused = now.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  now.replaceWith(next);
  if (focused !== null) next.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}

async function look() {
  if (document.hidden) return;
  try {
    const response = await fetch(location.pathname, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status === 404) location.assign('/');
    if (!response.ok) throw new Error(`${response.status}`);
    const next = new DOMParser().parseFromString(await response.text(), 'text/html');
    document.title = next.title;
    for (const part of document.querySelectorAll('[data-live], #rack')) {
      if (part.closest('#rack') !== null && part.id !== 'rack') continue;
      const fresh = next.getElementById(part.id);
      if (fresh !== null) update(part, fresh);
    }
    away.hidden = true;
  } catch {
    away.hidden = false;
  }
}

async function keep() {
  await look();
  setTimeout(keep, EVERY_MS);
}
document.addEventListener('visibilitychange', look);
setTimeout(keep, EVERY_MS);
