// The files for Prometheus and Grafana in docs/service: rules that fire and are quiet as they should, queries that are valid, metrics that exist.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { skipWithout } from '../fixtures/foreign-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const SERVICE = join(PROJECT_FOLDER, 'docs/service');
const RULES = join(SERVICE, 'service-alerts.yaml');
const CASES = join(PROJECT_FOLDER, 'test/docs/service-alerts.promtool.yaml');
const TIMEOUT = { timeout: 60_000 };
const run = promisify(execFile);
const skip = skipWithout('promtool', '--version');

interface Rule {
  alert: string;
  expr: string;
  labels: object;
  annotations: object;
}
interface Case {
  alert_rule_test: { alertname: string; exp_alerts: object[] }[];
}
interface Panel {
  title?: string;
  type: string;
  description?: string;
  datasource?: { uid?: string };
  targets?: { expr: string }[];
}
interface Board {
  uid: string;
  templating: { list: { name: string; query: string }[] };
  panels: Panel[];
}

const rules = (parse(readFileSync(RULES, 'utf8')).groups as { rules: Rule[] }[]).flatMap(
  (group) => group.rules,
);
const cases = (parse(readFileSync(CASES, 'utf8')).tests as Case[]).flatMap((each) => each.alert_rule_test);
const boards = readdirSync(join(SERVICE, 'grafana')).map((file) => ({
  file,
  ...(JSON.parse(readFileSync(join(SERVICE, 'grafana', file), 'utf8')) as Board),
}));
const queries = boards.flatMap(({ file, panels }) =>
  panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ place: `${file}: ${title}`, expr })),
  ),
);

t.test(
  'each rule says how bad it is, what is wrong and what to do, and has a case that fires and one that is quiet',
  async (t) => {
    for (const { alert, labels, annotations } of rules) {
      t.match(labels, { severity: /^(critical|warning)$/ }, alert);
      t.match(annotations, { summary: /./, action: /./ }, alert);
      const counts = cases
        .filter(({ alertname }) => alertname === alert)
        .map((each) => each.exp_alerts.length);
      t.ok(counts.includes(0), `${alert} is quiet`);
      t.ok(
        counts.some((count) => count > 0),
        `${alert} fires`,
      );
    }
    t.equal(rules[0]?.alert, 'SimrackSoldNumberWithoutService', 'customers first');
  },
);

t.test('promtool takes the rules, and they fire when they should', { skip }, async (t) => {
  t.match((await run('promtool', ['check', 'rules', RULES], TIMEOUT)).stdout, `${rules.length} rules found`);
  t.match((await run('promtool', ['test', 'rules', CASES], TIMEOUT)).stdout, /SUCCESS/);
});

t.test(
  'each metric of a rule and of a dashboard is in the reference, with the labels that select',
  async (t) => {
    const page = readFileSync(join(PROJECT_FOLDER, 'docs/reference/metrics.md'), 'utf8');
    const known = new Map(
      [...page.matchAll(/^\| `(simrack_\w+)(?:\{([\w,]+)\})?` \|/gm)].map(([, name, labels = '']) => [
        name,
        labels.split(','),
      ]),
    );
    const variables = boards.flatMap(({ file, templating }) =>
      templating.list.map(({ name, query }) => ({ place: `${file}: $${name}`, expr: query })),
    );
    const all = [...rules.map(({ alert, expr }) => ({ place: alert, expr })), ...queries, ...variables];
    let count = 0;
    for (const { place, expr } of all)
      for (const [, name = '', selected = ''] of expr.matchAll(/\b(simrack_\w+)(?:\{([^}]*)\})?/g)) {
        count += 1;
        const labels = known.get(name) ?? known.get(name.replace(/_(bucket|sum|count)$/, ''));
        t.ok(labels, `${place}: ${name}`);
        for (const [, label = ''] of selected.matchAll(/(\w+)(?:=|!)/g))
          t.ok(labels?.includes(label), `${place}: ${label}`);
      }
    t.ok(count > 50, `${count} metrics`);
  },
);

t.test('promtool takes each query of the dashboards', { skip }, async (t) => {
  const file = join(temporaryFolder(t), 'queries.yaml');
  const recorded = queries.map(({ expr }, index) => ({
    record: `query:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$node', 'rack-1'),
  }));
  writeFileSync(file, stringify({ groups: [{ name: 'queries', rules: recorded }] }));
  t.match((await run('promtool', ['check', 'rules', file], TIMEOUT)).stdout, `${queries.length} rules found`);
});

t.test(
  'each panel has a title, an explanation and the chosen data source, and each dashboard an id of its own',
  async (t) => {
    t.same(boards.map(({ file }) => file).sort(), ['fleet.json', 'messages.json', 'money.json', 'node.json']);
    t.equal(new Set(boards.map(({ uid }) => uid)).size, boards.length);
    for (const { file, panels } of boards)
      for (const panel of panels.filter(({ type }) => type !== 'row')) {
        t.match(panel, { title: /./, description: /./, datasource: { uid: /^\$\{datasource\}$/ } }, file);
        t.ok(panel.targets?.length, `${file}: ${panel.title}`);
        if (panel.type === 'timeseries') t.match(panel, { options: { legend: { showLegend: true } } });
      }
    for (const { file, templating } of boards)
      for (const variable of templating.list)
        t.notOk('auto' in variable, `${file}: a field of intervals, which is unknown to ${variable.name}`);
    const fleet = boards.find(({ file }) => file === 'fleet.json');
    t.equal(fleet?.panels.find(({ type }) => type !== 'row')?.title, 'Sold numbers without service');
  },
);
