// Refreshes the page: loads it again and replaces only the parts that changed, so that nothing flickers.
const EVERY_MS = 3000;
const TIMEOUT_MS = 10000;
const away = document.getElementById('away');

/** Keeps unchanged parts, with their focus and selection. */
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

async function refresh() {
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

async function refreshForever() {
  await refresh();
  setTimeout(refreshForever, EVERY_MS);
}
document.addEventListener('visibilitychange', refresh);
setTimeout(refreshForever, EVERY_MS);
