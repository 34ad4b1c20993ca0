// Between a link on another site and the page: browsers send the cookie with what our own page asks for.
import { html } from '#shared/html.ts';

export const sameSiteRedirect = (url: string): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Console</title><meta http-equiv="refresh" content="0; url=${url}"></head>
<body><p><a href="${url}">Go on</a></p></body></html>
`.text;
