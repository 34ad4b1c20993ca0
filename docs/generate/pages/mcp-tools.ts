// The tools for agents, as `tools/list` shows them.
import { numberTools, serviceTools, smsTools } from '../../../control-plane/mcp/all-tools.ts';
import { callTools } from '../../../control-plane/mcp/call-tools.ts';
import type { Tool } from '../../../control-plane/mcp/tool.ts';
import { paragraph, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { fieldRows, type Schema } from '../source/json-fields.ts';

/** Tools are described without what they work with. */
const NOTHING = {} as never;

export const MCP_TOOLS_PAGE: Page = {
  file: 'mcp-tools.md',
  title: 'MCP tools',
  about:
    'The tools of `POST /mcp` (Model Context Protocol, Streamable HTTP). `tools/list` returns their JSON Schemas. Tools with a token need `Authorization: Bearer …`. ' +
    'A refusal is a result with `isError` that holds the same `{error, message, …}` as the API.',
  body: () =>
    [
      ...serviceTools(NOTHING),
      ...smsTools(NOTHING),
      ...numberTools(),
      ...callTools({ canSpeak: true } as never),
    ]
      .flatMap(described)
      .join('\n\n'),
};

function described({ listed, name, needsBearer }: Tool): string[] {
  const { annotations = {}, inputSchema, outputSchema } = listed;
  const hints = [
    ...(annotations.readOnlyHint === true ? ['read only'] : []),
    ...(annotations.destructiveHint === true ? ['destructive'] : []),
    ...(annotations.idempotentHint === true ? ['idempotent'] : []),
  ];
  return [
    `## ${name}`,
    paragraph(listed.description ?? ''),
    [needsBearer ? 'Needs a token' : 'Needs no token', ...hints].join(', ').concat('.'),
    ...fields('Input', inputSchema as Schema),
    ...fields('Answer', answerOf(outputSchema as Schema)),
  ];
}

/** Without what only a refusal has: a field of both has the form of the answer in the first alternative. */
const answerOf = ({ properties, anyOf = [], ...schema }: Schema): Schema => ({
  ...schema,
  properties: { ...properties, ...anyOf[0]?.properties },
});

function fields(name: string, schema: Schema): string[] {
  const rows = fieldRows({ required: Object.keys(schema.properties ?? {}), ...schema });
  return rows.length === 0 ? [] : [`**${name}**`, table(['Field', 'Type', 'Default', 'Meaning'], rows)];
}
