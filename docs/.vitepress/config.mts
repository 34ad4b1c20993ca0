// The site of the documentation: its sidebar is made of the folders, and the titles are those of the pages.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const DOCS = join(dirname(fileURLToPath(import.meta.url)), '..');

/** A SIM card. */
const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#5672cd" d="M3 1h7l3 3v11H3z"/><path fill="#fff" d="M5 8h6v5H5z"/></svg>',
  );

const FOLDERS = [
  { folder: 'agents', text: 'Agents', about: 'Use a number from a program: buy, text, call.' },
  { folder: 'operators', text: 'Operators', about: 'Run modems on a host.' },
  { folder: 'service', text: 'Service', about: 'Run the service.' },
  { folder: 'simulator', text: 'Simulator', about: 'Develop without a modem.' },
  { folder: 'internals', text: 'Internals', about: 'How it works, and why.' },
  { folder: 'reference', text: 'Reference', about: 'Every option, error, metric and message.' },
];

/** The anchor of a heading as GitHub makes it, so that links lead somewhere on both. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

/** The first heading of a page, without its marks. */
function titleOf(path: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? path;
  return heading.replace(/[`*]/g, '');
}

/** The pages of a folder: index.md first, the others by `order` of their front matter, then by title. */
function pagesOf(folder: string) {
  const path = join(DOCS, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith('.md'))
    .map((name) => {
      const order = /^---\n[\s\S]*?^order: ([\d.]+)$/m.exec(readFileSync(join(path, name), 'utf8'))?.[1];
      return {
        order: name === 'index.md' ? -1 : Number(order ?? 1_000),
        text: titleOf(join(path, name)),
        link: `/${folder}/${name === 'index.md' ? '' : name.replace(/\.md$/, '')}`,
      };
    })
    .sort((one, other) => one.order - other.order || one.text.localeCompare(other.text))
    .map(({ link, text }) => ({ link, text }));
}

const groups = FOLDERS.map(({ about, folder, text }) => ({ about, text, items: pagesOf(folder) })).filter(
  ({ items }) => items.length > 0,
);

export default defineConfig({
  title: 'Simrack',
  description: 'Real US mobile numbers for AI agents and people: documentation',
  lang: 'en-US',
  head: [['link', { rel: 'icon', href: ICON }]],
  cleanUrls: true,
  lastUpdated: false,
  ignoreDeadLinks: false,
  srcExclude: ['node_modules/**', 'generate/**'],
  markdown: {
    anchor: { slugify },
    headers: { level: [2, 3], slugify },
    // The ones of VitePress have too little contrast (WCAG 2.2 §1.4.3).
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: groups.flatMap(({ text, items }) => items.slice(0, 1).map(({ link }) => ({ text, link }))),
    sidebar: groups.map((group) => ({ ...group, collapsed: false })),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
});
