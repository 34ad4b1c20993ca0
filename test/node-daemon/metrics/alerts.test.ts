// The alert rules as Prometheus reads them: well formed, each tried with a case that fires and one that is quiet.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { skipWithout } from '../../fixtures/foreign-program.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const RULES = join(PROJECT_FOLDER, 'node-daemon/metrics/alerts.yaml');
const CASES = join(import.meta.dirname, 'alerts.promtool.yaml');
const TIMEOUT_MS = 60_000;

interface Rule {
  alert: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
interface Case {
  alert_rule_test: { alertname: string; exp_alerts: object[] }[];
}

const rules: Rule[] = parse(readFileSync(RULES, 'utf8')).groups[0].rules;
const tried = (parse(readFileSync(CASES, 'utf8')).tests as Case[]).flatMap((each) => each.alert_rule_test);
const run = promisify(execFile);

t.test('each rule says how bad it is, what is wrong and what to do', async (t) => {
  for (const { alert, labels, annotations } of rules) {
    t.match(labels, { severity: /^(critical|warning)$/ }, alert);
    t.match(annotations, { summary: /./, action: /./ }, alert);
  }
});

t.test('each rule is tried with a case that fires and one that is quiet', async (t) => {
  for (const { alert } of rules) {
    const cases = tried.filter(({ alertname }) => alertname === alert);
    t.ok(
      cases.some(({ exp_alerts: expected }) => expected.length > 0),
      `${alert} fires`,
    );
    t.ok(
      cases.some(({ exp_alerts: expected }) => expected.length === 0),
      `${alert} is quiet`,
    );
  }
});

const skip = skipWithout('promtool', '--version');

t.test('promtool takes the rules', { skip }, async (t) => {
  const { stdout } = await run('promtool', ['check', 'rules', RULES], { timeout: TIMEOUT_MS });
  t.match(stdout, `${rules.length} rules found`);
});

t.test('the alerts fire when they should, and else are quiet', { skip }, async (t) => {
  const { stdout } = await run('promtool', ['test', 'rules', CASES], { timeout: TIMEOUT_MS });
  t.match(stdout, /SUCCESS/);
});
