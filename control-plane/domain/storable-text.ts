// Text that Postgres can store.

/** UCS-2, and what a modem calls itself, can carry U+0000; Postgres text cannot. */
export const withoutNul = (text: string): string => text.replaceAll('\u0000', '\ufffd');
