// The fields of a JSON Schema as rows of a table.
import * as z from 'zod';
import { code, codes, shownNumber } from '../markdown.ts';

export interface Schema {
  type?: string;
  const?: unknown;
  enum?: readonly (string | number)[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
  description?: string;
}

export const jsonSchemaOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;

/** Where a field has no description of its own: its doc comment. */
type Describe = (field: string) => string | undefined;

/** Rows of name, type, default and description; those of objects within follow, as `storage.used`. */
export function fieldRows(schema: Schema, describe: Describe = () => undefined, prefix = ''): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix + name;
    const isOptional = schema.required?.includes(name) !== true && field.default === undefined;
    const description = describe(path) ?? field.description ?? '';
    const row = [
      code(path),
      `${typeText(field)}${isOptional ? ', optional' : ''}`,
      field.default === undefined || field.default === null ? '' : code(JSON.stringify(field.default)),
      description,
    ];
    const inner = innerObject(field);
    return [row, ...(inner === undefined ? [] : fieldRows(inner.schema, describe, `${path}${inner.mark}.`))];
  });
}

function innerObject(field: Schema): { schema: Schema; mark: string } | undefined {
  const object = [field, ...(field.anyOf ?? [])].find(({ properties }) => properties !== undefined);
  if (object !== undefined) return { schema: object, mark: '' };
  const items = field.items?.properties === undefined ? undefined : field.items;
  return items === undefined ? undefined : { schema: items, mark: '[]' };
}

export function typeText(schema: Schema): string {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return codes(schema.enum);
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeText))].join(' or ');
  if (schema.type === 'array')
    return schema.items === undefined ? 'list' : `list of ${typeText(schema.items)}`;
  return `${nameOf(schema)}${limitsOf(schema)}`;
}

const nameOf = ({ format, type }: Schema): string => {
  if (format === 'date-time') return 'time (RFC 3339)';
  if (format === 'uri') return 'URL';
  return type ?? 'any';
};

/** Zod gives every integer the limits of safe integers: these are not listed. */
const isReal = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

function limitsOf({ maxLength, maximum, minLength, minimum, type }: Schema): string {
  if (type === 'string' && maxLength !== undefined)
    return ` (${minLength === undefined ? 'up to' : `${minLength} to`} ${shownNumber(maxLength)} characters)`;
  if (isReal(minimum) && isReal(maximum)) return ` (${shownNumber(minimum)} to ${shownNumber(maximum)})`;
  if (isReal(minimum)) return ` (${shownNumber(minimum)} or more)`;
  return '';
}
