// What a page may load (`Content-Security-Policy`, CSP level 3): nothing from outside, and no frame around it.

/** `scripts`, `styles`, `connections`, `forms`: a source list each, with hashes for what stands in the page. Images: those of `images`, and `data:`. */
export interface PageSources {
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
