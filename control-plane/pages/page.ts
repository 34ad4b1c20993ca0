// The frame of every page: head, header, footer, and a policy that blocks external content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { contentSecurityPolicy } from '#shared/content-security-policy.ts';
import { Html, html } from '#shared/html.ts';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const STYLE = read('page.css');
const SCRIPT = read('page.js');

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows only the page's own style and script. */
export const CONTENT_SECURITY_POLICY = contentSecurityPolicy({
  styles: hashOf(STYLE),
  scripts: hashOf(SCRIPT),
  connections: "'self'",
  forms: "'self'",
  images: "'self'",
});

/** Four signal bars in a card: signal and SIM. */
const MARK =
  '<svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true"><path fill="currentColor" d="M4 1h10l5 5v13a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2Zm1.6 12v4h2v-4h-2Zm3.1-2v6h2v-6h-2Zm3.1-2v8h2V9h-2Zm3.1-2v10h2V7h-2Z"/></svg>';
const ICON = `data:image/svg+xml,${encodeURIComponent(
  MARK.replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ').replace('currentColor', '#0b6e4f'),
)}`;

interface Frame {
  title: string;
  description: string;
  serviceName: string;
  /** Files for programs, path by name. */
  files: Readonly<Record<string, string>>;
  /** The page has the elements that the script uses. */
  isInteractive: boolean;
}

/** The whole document around `body`. */
export function page({ title, description, serviceName, files, isInteractive }: Frame, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<link rel="service-desc" type="application/json" href="/openapi.json">
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><div class="wide">
<a class="mark" href="/">${new Html(MARK)}<span>${serviceName.toLowerCase()}</span></a>
<nav aria-label="This page"><a href="/#steps">How it works</a><a href="/#agents">For agents</a><a href="/#waitlist">Waitlist</a></nav>
</div></header>
<main id="main">${body}</main>
<footer><div class="wide"><nav aria-label="Files for programs"><ul>
${Object.entries(files).map(([name, path]) => html`<li><a href="${path}">${name}</a></li>`)}
</ul></nav></div></footer>
${isInteractive ? html`<script>${new Html(SCRIPT)}</script>` : ''}
</body>
</html>
`.text;
}

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
