// A page of the reference: its name, and how its text is made.

export interface Page {
  /** File name in its folder. */
  readonly file: `${string}.md`;
  readonly title: string;
  /** One paragraph: what the page lists. */
  readonly about: string;
  /** The rest of the page, in Markdown. */
  body(): string | Promise<string>;
}

const NOTE =
  '<!-- Made by `npm run docs:reference` from the definitions in the code. Do not edit: change the definition. -->';

export async function textOf({ about, body, title }: Page): Promise<string> {
  const text = await body();
  return `${NOTE}\n\n# ${title}\n\n${about}\n\n${text.trim()}\n`;
}
