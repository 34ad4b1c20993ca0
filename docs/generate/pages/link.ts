// The control link and the media link: frames, facts, commands and what they hold.
import type * as z from 'zod';
import { nodeFrameSchema, serverFrameSchema } from '../../../shared/link/frame.ts';
import {
  commandSchemas,
  factSchema,
  slotEventSchema,
  smsOutcomeSchema,
} from '../../../shared/link/messages.ts';
import { slotSchema } from '../../../shared/link/slot.ts';
import { LINK_FRAME_BYTES_MAX, LINK_PATH, LINK_VERSION } from '../../../shared/link/version.ts';
import { audioStatisticsSchema, liveCallSchema } from '../../../shared/voice/call.ts';
import {
  MEDIA_FRAME_BYTES_MAX,
  MEDIA_PATH,
  nodeMediaSchema,
  serverMediaSchema,
} from '../../../shared/voice/media.ts';
import { code, sentence, shownNumber, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { docComments } from '../source/doc-comments.ts';
import { fieldRows, jsonSchemaOf, type Schema, typeText } from '../source/json-fields.ts';

const SOURCES = [
  'shared/link/frame.ts',
  'shared/link/messages.ts',
  'shared/link/slot.ts',
  'shared/voice/call.ts',
  'shared/voice/media.ts',
];
const HEAD = ['Field', 'Type', 'Default', 'Meaning'];

const comments = (): ReadonlyMap<string, string> =>
  new Map(SOURCES.flatMap((source) => [...docComments(source)]));

export const LINK_PAGE: Page = {
  file: 'link.md',
  title: 'Link between node and control plane',
  about:
    `Version ${LINK_VERSION}. A node opens one WebSocket at ${code(LINK_PATH)}, and one at ${code(MEDIA_PATH)} for the audio of each call. ` +
    `Frames of the control link are JSON text of at most ${shownNumber(LINK_FRAME_BYTES_MAX)} bytes. Unknown fields are ignored. Close codes are in [WebSocket close codes](./close-codes.md).`,
  body() {
    const texts = comments();
    return [
      '## Frames of the node',
      ...union('nodeFrameSchema', nodeFrameSchema, 'type', texts),
      '## Frames of the control plane',
      ...union('serverFrameSchema', serverFrameSchema, 'type', texts),
      '## Facts',
      texts.get('factSchema') ?? '',
      ...union('factSchema', factSchema, 'kind', texts),
      '## Commands',
      'The `params` of a `command` frame, by `name`.',
      ...Object.entries(commandSchemas).flatMap(([name, schema]) => [
        `### ${name}`,
        texts.get(`commandSchemas/${name}`) ?? '',
        fieldTable(jsonSchemaOf(schema), `commandSchemas/${name}`, texts),
      ]),
      '## Outcomes of send_sms',
      ...union('smsOutcomeSchema', smsOutcomeSchema, 'status', texts),
      ...object('A slot', 'slotSchema', slotSchema, texts),
      ...object('An event of a slot', 'slotEventSchema', slotEventSchema, texts),
      ...object('A call in progress', 'liveCallSchema', liveCallSchema, texts),
      ...object('Audio statistics of a call', 'audioStatisticsSchema', audioStatisticsSchema, texts),
      '## Media link',
      `Binary frames carry 20 ms of audio: 16 kHz, signed 16 bit little-endian, mono. Text frames are JSON of at most ${shownNumber(MEDIA_FRAME_BYTES_MAX)} bytes.`,
      ...object2('CaptureFrame', 'Binary frame of the node', texts),
      ...object2('PlayoutFrame', 'Binary frame of the control plane', texts),
      '### Text frames of the control plane',
      unionTable('serverMediaSchema', serverMediaSchema, 'type', texts),
      '### Text frames of the node',
      unionTable('nodeMediaSchema', nodeMediaSchema, 'type', texts),
    ].join('\n\n');
  },
};

type Texts = ReadonlyMap<string, string>;

const alternatives = (schema: z.ZodType): readonly Schema[] => {
  const { anyOf, oneOf } = jsonSchemaOf(schema);
  return anyOf ?? oneOf ?? [];
};

const tagOf = (schema: Schema, tag: string): string => String(schema.properties?.[tag]?.const);

/** Objects that have a section of their own are named, not repeated. */
const OWN_SECTION: Readonly<Record<string, string>> = {
  slots: 'list of slots, see [A slot](#a-slot)',
  calls: 'list of calls, see [A call in progress](#a-call-in-progress)',
  call: 'see [A call in progress](#a-call-in-progress)',
  event: 'see [An event of a slot](#an-event-of-a-slot)',
  fact: 'see [Facts](#facts)',
  outcome: 'see [Outcomes](#outcomes-of-send_sms)',
  audio: 'null, or see [Audio statistics](#audio-statistics-of-a-call)',
};

function union(name: string, schema: z.ZodType, tag: string, texts: Texts): string[] {
  return alternatives(schema).flatMap((alternative) => {
    const value = tagOf(alternative, tag);
    const at = texts.has(`${name}/${value}`) ? `${name}/${value}` : `callEndedSchema`;
    return [`### ${value}`, texts.get(at) ?? '', fieldTable(alternative, at, texts, tag)];
  });
}

function unionTable(name: string, schema: z.ZodType, tag: string, texts: Texts): string {
  return table(
    ['Type', 'Meaning', 'Fields'],
    alternatives(schema).map((alternative) => {
      const value = tagOf(alternative, tag);
      const fields = Object.entries(alternative.properties ?? {}).filter(([field]) => field !== tag);
      return [
        code(value),
        texts.get(`${name}/${value}`) ?? '',
        fields.map(([field, each]) => `${code(field)} (${typeText(each)})`).join(', '),
      ];
    }),
  );
}

function object(title: string, name: string, schema: z.ZodType, texts: Texts): string[] {
  return [`## ${title}`, texts.get(name) ?? '', fieldTable(jsonSchemaOf(schema), name, texts)];
}

function object2(name: string, title: string, texts: Texts): string[] {
  const fields = [...texts].filter(([path]) => path.startsWith(`${name}/`));
  return [
    `### ${title}`,
    texts.get(name) ?? '',
    table(
      ['Field', 'Meaning'],
      fields.map(([path, text]) => [code(path.slice(name.length + 1)), sentence(text)]),
    ),
  ];
}

function fieldTable(schema: Schema, at: string, texts: Texts, tag?: string): string {
  const rows = fieldRows(flat(schema), (path) => texts.get(`${at}/${path.replaceAll('.', '/')}`)).filter(
    ([name]) => name !== code(tag ?? ''),
  );
  if (rows.length === 0) return 'No fields.';
  return table(
    HEAD,
    rows.map(([name = '', type = '', ...rest]) => {
      const own = OWN_SECTION[name.replaceAll('`', '')];
      return own === undefined || !/object|any/.test(type) ? [name, type, ...rest] : [name, own, ...rest];
    }),
  );
}

/** Without the fields of objects that have a section of their own. */
function flat(schema: Schema): Schema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    name,
    name in OWN_SECTION && typeText(field).includes('object') ? { type: 'object' } : field,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) as Record<string, Schema> };
}
