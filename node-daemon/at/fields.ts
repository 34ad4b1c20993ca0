// Reads the fields of an information response or URC: `+CMTI: "SM",3` → ["SM", "3"].

/**
 * Splits the text after a line's name at the commas outside of quotes. Removes quotes and blanks around fields. A line without ":" has
 * no fields.
 */
export function fieldsOf(line: string): string[] {
  const colon = line.indexOf(':');
  if (colon < 0) return [];
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (const char of line.slice(colon + 1)) {
    if (char === '"') quoted = !quoted;
    else if (char === ',' && !quoted) {
      fields.push(field.trim());
      field = '';
    } else field += char;
  }
  fields.push(field.trim());
  return fields;
}

/** Returns a field as a whole number; `undefined` if it is missing or not a number. */
export function integerField(fields: readonly string[], position: number): number | undefined {
  const text = fields[position];
  return text !== undefined && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}
