// JSON Schema as the text of a TypeScript type, with its descriptions. Only what our schemas contain: the rest is an error.

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'object' | 'array';

export interface Schema {
  type?: TypeName | readonly TypeName[];
  description?: string;
  format?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
  readOnly?: boolean;
  /** Nothing: there is no response body. */
  not?: Schema;
  /** A time in a request, which may be a `Date` or text. */
  isDate?: boolean;
}

/** Throws an error for a schema whose type it does not know. */
export function typeText(schema: Schema, indent = ''): string {
  if (schema.isDate === true) return 'Date | string';
  if (schema.not !== undefined) return 'undefined';
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.map((option) => typeText(option, indent)).join(' | ');
  if (schema.type === undefined) throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
  return [schema.type]
    .flat()
    .map((type) => nameOf(type, schema, indent))
    .join(' | ');
}

function nameOf(type: TypeName, schema: Schema, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      return `${schema.readOnly === true ? 'readonly ' : ''}(${typeText(schema.items ?? {}, indent)})[]`;
    case 'object':
      return objectText(schema, indent);
  }
}

function objectText({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (properties === undefined && typeof additionalProperties === 'object')
    return `Record<string, ${typeText(additionalProperties, indent)}>`;
  const inner = `${indent}  `;
  const lines = Object.entries(properties ?? {}).flatMap(([name, property]) => {
    const { description } = property;
    const isRequired = required.includes(name);
    const type = typeText(property, inner);
    return [
      ...(description === undefined ? [] : [`${inner}/** ${description} */`]),
      `${inner}${name}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'};`,
    ];
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}
