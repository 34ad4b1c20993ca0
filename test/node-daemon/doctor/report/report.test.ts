// The report: for programs by its schema, for people with what to do at the end.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { HOST_CHECKS, SLOT_CHECKS } from '#node-daemon/doctor/checks/all-checks.ts';
import {
  doctorReportOf,
  doctorTextOf,
  type Finding,
  reportSchema,
} from '#node-daemon/doctor/report/report.ts';
import { FINDING_EXIT_CODES } from '#shared/operator/findings.ts';
import { PROJECT_FOLDER } from '../../../tidy/sources.ts';
import { daemonView, hostView, seen, slotView } from '../seen.ts';

const finding = (
  check: string,
  slot: string | null,
  verdict: Finding['verdict'],
  advice: string | null = null,
) => ({ check, slot, verdict, advice, seen: `${check} is ${verdict}` });
const report = (findings: Finding[]) =>
  doctorReportOf({
    findings,
    slots: ['a', 'b'],
    isDaemonRunning: true,
    beganAt: 1_800_000_000_000,
    endedAt: 1_800_000_001_500,
  });
const TEXT = { hasColour: false, isVerbose: false };

t.test('the verdict is the worst one, and gives the exit code', async (t) => {
  const of = (...verdicts: Finding['verdict'][]) =>
    report(verdicts.map((verdict) => finding('sim', 'a', verdict))).verdict;
  t.equal(of('ok', 'skipped'), 'ok');
  t.equal(of('ok', 'warning', 'skipped'), 'warning');
  t.equal(of('warning', 'problem'), 'problem');
  t.same(FINDING_EXIT_CODES, { ok: 0, warning: 1, problem: 2, couldNotRun: 3 });
});

t.test('JSON keeps to its schema', async (t) => {
  const parsed = reportSchema.parse(JSON.parse(JSON.stringify(report([finding('sim', 'a', 'ok')]))));
  t.match(parsed, { counts: { ok: 1, problem: 0 }, duration_ms: 1500, daemon: 'running', slots: ['a', 'b'] });
});

t.test('advice comes last, problems first, and once for all slots that need it', async (t) => {
  const text = doctorTextOf(
    report([
      finding('autosuspend', 'a', 'warning', 'echo on'),
      finding('autosuspend', 'b', 'warning', 'echo on'),
      finding('sim', 'b', 'problem', 'put a card in'),
      finding('signal', 'a', 'skipped'),
    ]),
    TEXT,
  );
  const advice = text.slice(text.indexOf('what to do'));
  t.ok(advice.indexOf('put a card in') < advice.indexOf('a, b autosuspend: autosuspend is'));
  t.equal(advice.split('echo on').length, 2);
  t.notMatch(text, /signal/);
  t.match(text, /2 slots: 1 problem, 2 warnings \(1\.5 s\)\n$/);
});

t.test('the page of doctor has the lines of its report for a node that is not enrolled', async (t) => {
  const host = hostView({ enrollment: { kind: 'not_enrolled' }, controlPlane: undefined });
  const facts = seen({ host, daemon: daemonView({ link: 'away' }) });
  const ofHost = Object.entries(HOST_CHECKS).map(([check, judge]) => ({
    check,
    slot: null,
    ...judge(facts),
  }));
  const ofSlot = Object.entries(SLOT_CHECKS).map(([check, judge]) => ({
    check,
    slot: 'a',
    ...judge(slotView(), facts),
  }));
  const lines = doctorTextOf(report([...ofHost, ...ofSlot]), TEXT)
    .replace(/[^ ]*(?:npx --no-install )node-daemon enroll (<url> <code>)[^\n]*/, 'node-daemon enroll $1')
    .split('\n');
  const page = readFileSync(join(PROJECT_FOLDER, 'docs/operators/doctor.md'), 'utf8').split('\n');
  const shown = lines.filter((line) => line.includes('PROBLEM') || line.includes('Run "control-plane'));
  t.equal(shown.length, 3);
  for (const line of shown) t.ok(page.includes(line), line);
});

t.test('colours where they are wanted only; all checks where they are', async (t) => {
  const well = report([finding('sim', 'a', 'ok'), finding('signal', 'a', 'skipped')]);
  const colour = String.fromCharCode(27);
  t.notOk(doctorTextOf(well, TEXT).includes(colour));
  t.ok(doctorTextOf(well, { ...TEXT, hasColour: true }).includes(colour));
  t.match(doctorTextOf(well, TEXT), /nothing to do/);
  t.notMatch(doctorTextOf(well, TEXT), /signal is skipped/);
  t.match(doctorTextOf(well, { ...TEXT, isVerbose: true }), /signal is skipped/);
});
