// The dashboards for Grafana, judged by TypeScript against Grafana's own types: fields, options of panels, and values of enumerations.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { typeProblems } from '../fixtures/type-problems.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const FOLDER = join(PROJECT_FOLDER, 'docs/service/grafana');
const PACKAGES = {
  '@grafana/schema': 'test/tools/node_modules/@grafana/schema',
  '@grafana/grafana-foundation-sdk': 'node_modules/@grafana/grafana-foundation-sdk',
};

/** A panel of a type that is not listed is an error: give it its own options here. Queries have Prometheus's own type. */
const TYPES = `import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import type { Dashboard, FieldConfig, FieldConfigSource, Panel, RowPanel } from '@grafana/schema';
import type { Options as Stat } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type {
  FieldConfig as Line,
  Options as TimeSeries,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

// JSON has the text of an enumeration's value, which TypeScript takes for the enumeration only so.
type Json<T> = T extends string ? \`\${T}\`
  : T extends readonly (infer Item)[] ? Json<Item>[]
  : T extends object ? { [Key in keyof T]: Json<T[Key]> }
  : T;

interface Fields<Custom> extends Omit<FieldConfigSource, 'defaults'> {
  defaults: Omit<FieldConfig, 'custom'> & { custom?: Custom };
}
interface Typed<Type, Options, Custom> extends Omit<Panel, 'type' | 'options' | 'fieldConfig' | 'targets'> {
  type: Type;
  options?: Options;
  fieldConfig?: Fields<Custom>;
  targets?: Omit<Dataquery, '_implementsDataqueryVariant'>[];
}
type OfNumber = Typed<'stat', Stat, Record<string, never>>;
type OfPlot = Typed<'timeseries', TimeSeries, Line>;

export type Board = Json<Omit<Dashboard, 'panels'> & { panels?: (OfNumber | OfPlot | RowPanel)[] }>;
`;

const dashboards = new Map(
  readdirSync(FOLDER).map((file) => [file, readFileSync(join(FOLDER, file), 'utf8')]),
);

const folder = temporaryFolder(t);
mkdirSync(join(folder, 'node_modules/@grafana'), { recursive: true });
for (const [name, path] of Object.entries(PACKAGES))
  symlinkSync(join(PROJECT_FOLDER, path), join(folder, 'node_modules', name));
writeFileSync(join(folder, 'types.ts'), TYPES);

/** By the name of each text: all that TypeScript finds wrong in it. */
function problemsOf(t: Test, texts: ReadonlyMap<string, string>): Map<string, string[]> {
  const names = [...texts.keys()];
  const paths = names.map((name) => join(folder, `${name}.ts`));
  for (const [index, text] of [...texts.values()].entries())
    writeFileSync(
      String(paths[index]),
      `import type { Board } from './types.ts';\nexport const board: Board = ${text};\n`,
    );
  const [own = [], ...found] = typeProblems([join(folder, 'types.ts'), ...paths]);
  t.same(own, [], 'the types of this test');
  return new Map(names.map((name, index) => [name, found[index] ?? []]));
}

t.test('every dashboard has the fields and values that the types of Grafana list', async (t) => {
  t.ok(dashboards.size >= 4);
  for (const [file, problems] of problemsOf(t, dashboards)) t.same(problems, [], file);
});

/** Each spoils one place of money.json: what is there, what is put there, and the words of the problem. */
const SPOILED: Record<string, readonly [from: string, to: string, problem: RegExp]> = {
  'a misspelt option of a number': ['"graphMode"', '"graphMod"', /graphMod/],
  'a misspelt option of a plot': ['"showLegend"', '"showLegends"', /showLegends/],
  'an unknown option of a plot': ['"tooltip": {', '"stacked": true, "tooltip": {', /stacked/],
  'an unknown value of an option': ['"colorMode": "value"', '"colorMode": "values"', /"values"/],
  'an unknown number of an enumeration': ['"graphTooltip": 1', '"graphTooltip": 7', /7/],
  'an unknown value of a legend': ['"displayMode": "list"', '"displayMode": "lists"', /"lists"/],
  'an unknown type of panel': ['"type": "stat"', '"type": "state"', /"state"/],
  'an unknown field of the lines': ['"custom": {}', '"custom": { "fillOpaque": 2 }', /fillOpaque/],
  'an unknown mode of the thresholds': ['"mode": "absolute"', '"mode": "absolut"', /"absolut"/],
  'a misspelt field of a query': ['"legendFormat"', '"legendFormats"', /legendFormats/],
  'an unknown type of variable': ['"type": "datasource"', '"type": "datasources"', /"datasources"/],
  'a misspelt field of the dashboard': ['"schemaVersion"', '"schemeVersion"', /schemeVersion/],
};

t.test('a misspelt field, an unknown option and an unknown value are found', async (t) => {
  const money = dashboards.get('money.json') ?? '';
  const copies = Object.entries(SPOILED).map(([name, [from, to]]) => {
    const copy = money.replace(from, to);
    t.not(copy, money, `${name}: ${from} is there`);
    return [name, copy] as const;
  });
  const problems = problemsOf(t, new Map(copies));
  for (const [name, [, , words]] of Object.entries(SPOILED))
    t.match(problems.get(name)?.join('\n'), words, name);
});
