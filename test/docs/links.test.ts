// Every relative link of the READMEs and of docs/ leads to a file, and its anchor to a heading.
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { anchorsOf, type Page, proseOf, readPages } from './pages.ts';

const LINK = /(?<!!)\[[^\]]*\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g;

const pages = new Map(readPages().map((page) => [page.path, page]));

/** The flaw of a link, if any. */
function flawOf(page: Page, link: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page.path : normalize(join(dirname(page.path), decodeURIComponent(path)));
  if (target.startsWith('..')) return 'leaves the repository';
  if (!pages.has(target) && !existsSync(join(PROJECT_FOLDER, target))) return 'no such file';
  if (page.path.startsWith('docs/') && !target.startsWith('docs/')) return 'the site has only docs/';
  if (anchor === undefined) return undefined;
  const there = pages.get(target);
  if (there === undefined) return 'an anchor of what is no page';
  return anchorsOf(there).has(anchor) ? undefined : 'no such heading';
}

t.test('links and anchors are recognised', async (t) => {
  const page = { path: 'docs/x.md', text: '# A b\n\n## `c` d: e\n\n```sh\n# no heading\n```\n## A b\n' };
  t.same([...anchorsOf(page)], ['a-b', 'c-d-e', 'a-b-1']);
  pages.set(page.path, page);
  t.equal(flawOf(page, '#a-b'), undefined);
  t.equal(flawOf(page, '#no-heading'), 'no such heading');
  t.equal(flawOf(page, 'nowhere.md'), 'no such file');
  t.equal(flawOf(page, '../README.md'), 'the site has only docs/');
  t.equal(flawOf(page, 'https://example.com'), undefined);
  pages.delete(page.path);
});

t.test('every link leads somewhere', async (t) => {
  t.ok(pages.size > 20, `${pages.size} pages`);
  let links = 0;
  for (const page of pages.values()) {
    // In code, brackets and parentheses are no link.
    for (const [, link = ''] of proseOf(page.text)
      .replace(/`[^`\n]*`/g, '``')
      .matchAll(LINK)) {
      links += 1;
      const flaw = flawOf(page, link);
      if (flaw !== undefined) t.fail(`${page.path}: ${link}: ${flaw}`);
    }
  }
  t.ok(links > 100, `${links} links`);
});

t.test('every page of docs/ is reached from the README', async (t) => {
  const reached = new Set(['README.md']);
  for (const path of reached) {
    const text = pages.get(path)?.text ?? '';
    for (const [, link = ''] of proseOf(text).matchAll(LINK)) {
      if (/^[a-z]+:/i.test(link)) continue;
      reached.add(normalize(join(dirname(path), link.split('#')[0] ?? '')));
    }
  }
  const lost = [...pages.keys()].filter((path) => path.startsWith('docs/') && !reached.has(path));
  t.same(lost, ['docs/index.md'], 'the start of the site has links that the site makes');
});
