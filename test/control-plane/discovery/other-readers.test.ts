// Programs of others read what we publish: patterns by Python and RE2, front matter by every YAML parser, voice by agents.
import t from 'tap';
import { parse } from 'yaml';
import type * as z from 'zod';
import { twilioClientFrameSchema, twilioServerFrameSchema } from '#shared/api/twilio-frames.ts';
import {
  clientFrameSchema,
  presenceEventSchema,
  serverFrameSchema,
  VOICE_SUBPROTOCOL,
} from '#shared/api/voice-frames.ts';
import { vonageClientFrameSchema, vonageServerFrameSchema } from '#shared/api/vonage-frames.ts';
import { PRESENCE_CLOSE, STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { toolClient } from '../../fixtures/agents/tool-client.ts';
import { PYTHON, run, skipWithoutPythonModule } from '../../fixtures/foreign-program.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { requireTool } from '../../fixtures/tools.ts';

const rig = await createRig();
const { url } = await rig.start(t);
const served = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();

const { RE2JS } = requireTool('re2js') as { RE2JS: { compile(pattern: string): unknown } };

function patternsIn(text: string): Set<string> {
  const found = new Set<string>();
  JSON.parse(text, (key, value: unknown) => {
    if (key === 'pattern' && typeof value === 'string') found.add(value);
    return value;
  });
  return found;
}

/** The complaints of the three: ECMA-262, RE2 and Python. Empty if all read the pattern. */
async function complaintsOf(patterns: readonly string[]): Promise<string[]> {
  const program = `import json, re, sys
for each in json.loads(sys.argv[1]):
    try: re.compile(each)
    except re.error as error: print("Python:", each, error)`;
  const python = await run(PYTHON, ['-c', program, JSON.stringify(patterns)]);
  const readers = {
    'ECMA-262': (pattern: string) => new RegExp(pattern, 'u'),
    RE2: (pattern: string) => RE2JS.compile(pattern),
  };
  const others = Object.entries(readers).flatMap(([name, read]) =>
    patterns.flatMap((pattern) => {
      try {
        read(pattern);
        return [];
      } catch (error) {
        return [`${name}: ${pattern} ${String(error)}`];
      }
    }),
  );
  return [...others, ...python.split('\n').filter(Boolean)];
}

t.test('patterns are read by ECMA-262, RE2 and Python', async (t) => {
  const tools = JSON.stringify(await (await toolClient(t, url)).tools());
  const patterns = [
    ...patternsIn(await served('/openapi.json')),
    ...patternsIn(await served('/asyncapi.json')),
    ...patternsIn(tools),
  ];
  t.ok(patterns.length >= 5);
  t.same(await complaintsOf(patterns), []);
});

t.test('patterns that one of the three does not read are found', async (t) => {
  for (const pattern of ['(?=a)', '(?<!a)', '(?<name>a)', '\\p{L}', '(a)\\1', 'a{1001}'])
    t.not((await complaintsOf([pattern])).length, 0, pattern);
});

const skill = await served('/.well-known/agent-skills/phone-number/SKILL.md');
const frontMatter = /^---\n([\s\S]*?)\n---\n/.exec(skill)?.[1] ?? '';

function checkFrontMatter(t: { match(found: unknown, wanted: object): void }, found: unknown): void {
  t.match(found, { name: 'phone-number', description: /^Get a real US mobile number.+texts or calls\.$/ });
}

t.test('the front matter of SKILL.md is YAML for two parsers of npm', async (t) => {
  const other = requireTool('@stoplight/yaml') as { parse(text: string): unknown };
  checkFrontMatter(t, parse(frontMatter));
  checkFrontMatter(t, other.parse(frontMatter));
  t.equal(await served('/SKILL.md'), skill, 'it is at the top, too');
});

t.test(
  'the front matter is YAML for Python’s parser',
  { skip: skipWithoutPythonModule('yaml') },
  async (t) => {
    const program = 'import json, sys, yaml\nprint(json.dumps(yaml.safe_load(sys.argv[1])))';
    checkFrontMatter(t, JSON.parse(await run(PYTHON, ['-c', program, frontMatter])));
  },
);

/** The values of `tag` of all alternatives. */
function namesOf(schema: { options: readonly z.ZodType[] }, tag: string): string[] {
  return schema.options.flatMap((option) => {
    const field = shapeOf(option)?.[tag] as { value?: string } | undefined;
    return field?.value === undefined ? [] : [field.value];
  });
}

function shapeOf(schema: z.ZodType): Record<string, unknown> | undefined {
  const { shape } = schema as { shape?: Record<string, unknown> };
  const inner = (schema._zod.def as { in?: z.ZodType }).in;
  return shape ?? (inner === undefined ? undefined : shapeOf(inner));
}

t.test('llms.txt and AsyncAPI name every message of calls, the dialects and all close codes', async (t) => {
  const names = [
    ...namesOf(clientFrameSchema, 'type'),
    ...namesOf(clientFrameSchema, 'action'),
    ...namesOf(serverFrameSchema, 'type'),
    ...namesOf(presenceEventSchema, 'kind'),
    ...namesOf(twilioClientFrameSchema, 'event'),
    ...namesOf(twilioServerFrameSchema, 'event'),
    ...namesOf(vonageClientFrameSchema, 'action'),
    ...namesOf(vonageServerFrameSchema, 'event'),
  ];
  t.ok(names.length >= 20, names.join(' '));
  const llms = await served('/llms.txt');
  const asyncApi = await served('/asyncapi.json');
  for (const name of new Set(names)) {
    t.match(llms, new RegExp(`[\`"]${name}[\`"]`), `llms.txt: ${name}`);
    t.match(asyncApi, `"const":"${name}"`, `asyncapi.json: ${name}`);
  }
  for (const text of [llms, asyncApi]) {
    t.match(text, VOICE_SUBPROTOCOL);
    t.match(text, 'protocol=twilio');
    t.match(text, 'protocol=vonage');
    t.match(text, '2 MiB');
    t.match(text, '64 KiB');
    for (const code of Object.values(STREAM_CLOSE)) t.match(text, String(code));
  }
  for (const code of Object.values(PRESENCE_CLOSE)) t.match(asyncApi, String(code));
});

t.test('llms.txt has the length of a text in words, and how to split a longer one', async (t) => {
  const llms = (await served('/llms.txt')).replace(/\s+/g, ' ');
  t.match(
    llms,
    /One SMS: 160 characters of GSM 7-bit, or 70 if any character is outside it, such as a curly quote/,
  );
  t.match(llms, /A longer text is 400 with `max_units` and `ucs2_characters`: send several, .*`split_text`/);
});
