// Pages of a list over several numbers, newest first. A page's token says how far each number's list was read.
import * as z from 'zod';
import { jsonOf } from '#shared/json.ts';
import { invalid } from './refusal.ts';

/** Entries that one request reads; a page that ends there is shorter, and has a next one. */
const SCANNED_MAX = 2_000;

interface Row {
  at: string;
}

/** Reads one page of a number's list: what is not newer than `until`. */
type ReadPage<R extends Row> = (query: {
  cursor?: string | undefined;
  until?: string | undefined;
}) => Promise<{ rows: readonly R[]; next: string | null }>;

interface PageQuery<R extends Row> {
  pageSize: number;
  /** `token` of an earlier page. */
  token?: string | undefined;
  fits: (row: R) => boolean;
}

const tokenSchema = z.object({
  until: z.string().max(40).optional(),
  /** For each number: the cursor of a page, and how much of it was read. Null: its list has ended. */
  at: z.array(z.tuple([z.string().max(256).nullable(), z.int().min(0).max(100)]).nullable()).max(10_000),
});

/** Throws `TwilioRefusal` for a wrong token. */
export async function readTwilioList<R extends Row>(
  sources: ReadonlyArray<ReadPage<R>>,
  { pageSize, token, fits }: PageQuery<R>,
): Promise<{ rows: R[]; nextToken?: string }> {
  const from = token === undefined ? undefined : parsed(token, sources.length);
  let until = from?.until;
  const heads = sources.map((read, index) => new Head(read, from === undefined ? [null, 0] : from.at[index]));
  const rows: R[] = [];
  for (let scanned = 0; rows.length < pageSize && scanned < SCANNED_MAX; scanned += 1) {
    await Promise.all(heads.map((head) => head.fill(until)));
    const [newest] = heads.filter(({ row }) => row !== undefined).sort(byTime);
    const row = newest?.take();
    if (row === undefined) return { rows };
    // Later entries do not move the pages.
    until ??= row.at;
    if (fits(row)) rows.push(row);
  }
  const at = heads.map(({ place }) => place);
  if (at.every((place) => place === null)) return { rows };
  return { rows, nextToken: Buffer.from(JSON.stringify({ until, at })).toString('base64url') };
}

const byTime = <R extends Row>(a: Head<R>, b: Head<R>): number =>
  Date.parse(b.row?.at ?? '') - Date.parse(a.row?.at ?? '');

class Head<R extends Row> {
  readonly #read: ReadPage<R>;
  #cursor: string | null = null;
  #taken = 0;
  #page: { rows: readonly R[]; next: string | null } | undefined;
  #isOver = false;

  constructor(read: ReadPage<R>, place: readonly [string | null, number] | null | undefined) {
    this.#read = read;
    if (place === null || place === undefined) this.#isOver = true;
    else [this.#cursor, this.#taken] = place;
  }

  get row(): R | undefined {
    return this.#isOver ? undefined : this.#page?.rows[this.#taken];
  }

  get place(): [string | null, number] | null {
    return this.#isOver ? null : [this.#cursor, this.#taken];
  }

  /** Reads on until there is a row, or the list has ended. */
  async fill(until: string | undefined): Promise<void> {
    while (!this.#isOver && this.row === undefined) {
      if (this.#page === undefined)
        this.#page = await this.#read({ cursor: this.#cursor ?? undefined, until });
      else this.#onward(this.#page.next);
    }
  }

  take(): R | undefined {
    const { row } = this;
    this.#taken += 1;
    if (this.#page !== undefined && this.#taken >= this.#page.rows.length) this.#onward(this.#page.next);
    return row;
  }

  #onward(next: string | null): void {
    this.#isOver = next === null;
    this.#cursor = next;
    this.#taken = 0;
    this.#page = undefined;
  }
}

function parsed(token: string, count: number): z.infer<typeof tokenSchema> {
  const { data } = tokenSchema.safeParse(jsonOf(Buffer.from(token, 'base64url').toString()));
  if (data?.at.length !== count) throw invalid(20_001, 'PageToken is not one of this list');
  return data;
}
