// The pages of the documentation: their text, their headings with anchors, their blocks of code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles, PROJECT_FOLDER } from '../tidy/sources.ts';

export interface Page {
  /** Relative to the project's folder. */
  path: string;
  text: string;
}

export interface Block {
  language: string;
  code: string;
}

/** The text of a page, which is relative to the project's folder. */
export const readPage = (path: string): string => readFileSync(join(PROJECT_FOLDER, path), 'utf8');

/** The READMEs and all of docs/. */
export function readPages(): Page[] {
  return listFiles('*.md')
    .filter((path) => path.startsWith('docs/') || path.endsWith('README.md'))
    .map((path) => ({ path, text: readPage(path) }));
}

const FENCE = /^( *)(`{3,})([\w-]*)[^\n]*\n([\s\S]*?)^\1\2 *$/gm;

export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(FENCE)].map(([, , , language = '', code = '']) => ({ language, code }));

/** The code of the block with these words on a page, which is relative to docs/. */
export function blockWith(page: string, words: string): string {
  const block = blocksOf(readPage(join('docs', page))).find(({ code }) => code.includes(words));
  if (block === undefined) throw new Error(`no block of ${page} has ${words}`);
  return block.code;
}

/** The text without front matter, comments and blocks of code. */
export const proseOf = (text: string): string =>
  text
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(FENCE, '')
    .replace(/<!--[\s\S]*?-->/g, '');

const headingsOf = (text: string): string[] =>
  [...proseOf(text).matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading = '']) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[`*]/g, '')
      .replace(/&lt;/g, '<'),
  );

/** As GitHub makes anchors, and the site of docs/ (`slugify` in its configuration). */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

/** Repeated headings are numbered. */
function numbered(slugs: readonly string[]): Set<string> {
  const seen = new Map<string, number>();
  return new Set(
    slugs.map((slug) => {
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    }),
  );
}

export const anchorsOf = ({ text }: Page): Set<string> => numbered(headingsOf(text).map(slugOf));
