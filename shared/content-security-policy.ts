// The header `Content-Security-Policy` (CSP level 3): a page loads nothing from outside and cannot be framed.

/**
 * `scripts`, `styles`, `connections`, `forms`: a source list each, with hashes for inline content. Images may
 * come from `images` and `data:`.
 */
interface PageSources {
  scripts: string;
  styles: string;
  connections: string;
  forms: string;
  images?: string;
}

export function contentSecurityPolicy({ scripts, styles, connections, forms, images }: PageSources): string {
  return [
    "default-src 'none'",
    `style-src ${styles}`,
    `script-src ${scripts}`,
    `connect-src ${connections}`,
    `img-src ${images === undefined ? '' : `${images} `}data:`,
    `form-action ${forms}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
