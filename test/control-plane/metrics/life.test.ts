// A whole life of the service: nothing private is in its log or its metrics, and what happened is counted.
import t, { type Test } from 'tap';
import { documentedMetrics } from '../../fixtures/service/documented-metrics.ts';
import { type Family, readExposition, readingOf } from '../../fixtures/service/exposition.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { liveALife, writtenForms } from '../../fixtures/service/service-life.ts';

interface Line {
  msg: string;
  requestId?: string;
  [field: string]: unknown;
}

/** Series of one metric. Requests have one for each route, method and status. */
const SERIES_MAX = 60;
const SERIES_OF_REQUESTS_MAX = 150;

const rig = await createRig();
const life = await liveALife(t, rig);
const pageAtTheEnd = await life.service.scrape();
const families = readExposition(life.page);
const ours = [...families.values()].filter(({ name }) => name.startsWith('simrack_'));
const counted = (name: string, labels: Record<string, string> = {}) =>
  readingOf(families, `simrack_${name}`, labels);
const log = life.service.log();
const lines = log
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);

t.test('neither the log nor the metrics have anything private', async (t) => {
  const forms = new Map([...writtenForms(), ...life.secrets]);
  const places = { log, metrics: life.page, 'metrics without a database': pageAtTheEnd };
  for (const [place, text] of Object.entries(places))
    for (const [what, form] of forms) {
      const at = text.toLowerCase().indexOf(form.toLowerCase());
      t.ok(at < 0, `${what} in the ${place}`, { around: text.slice(Math.max(0, at - 300), at + 100) });
    }
});

t.test('errors are logged all the same', async (t) => {
  const reported = (message: string) => lines.filter(({ msg }) => msg === message);
  t.ok(reported('request failed').length >= 2, 'errors of the database');
  t.ok(
    reported('request refused').filter(({ code }) => code === 'unavailable').length >= 2,
    'a database that is gone',
  );
  t.match(reported('request failed')[0], {
    err: { type: 'error', code: /^[0-9A-Z]{5}$/, stack: /^ {4}at / },
  });
  t.ok(reported('not ready').length > 0, 'a database that is away');
  t.ok(reported('bad frame from a node').length > 0, 'a node that talks nonsense');
  t.match(
    reported('request refused').find(({ code }) => code === 'settlement_unavailable'),
    {
      err: { message: String },
    },
  );
  t.ok(reported('outcome of a payment still unknown').length + reported('broadcast failed').length > 0);
});

t.test('an error, its header and its lines have one request id', async (t) => {
  const errors = life.answers.filter(({ body }) => body !== undefined && 'request_id' in body);
  t.ok(errors.length > 30, `${errors.length} errors`);
  const ids = new Map<string, string[]>();
  for (const { msg, requestId = '' } of lines) ids.set(requestId, [...(ids.get(requestId) ?? []), msg]);
  for (const { body, requestId, status } of errors) {
    t.equal(body?.['request_id'], requestId);
    const reported = ids.get(String(requestId)) ?? [];
    t.ok(reported.includes('request answered'), `a line of ${status}`);
    t.ok(
      reported.includes('request refused') || reported.includes('request failed'),
      `the reason of ${status}`,
    );
  }
  t.equal(new Set(errors.map(({ requestId }) => requestId)).size, errors.length, 'each its own');
});

t.test('an error of the tools has the id of its request', async (t) => {
  const errors = life.answers.flatMap(({ body, requestId }) => {
    const { error, result } = (body ?? {}) as Record<string, Record<string, Record<string, unknown>>>;
    const reported = error?.['data'] ?? (result?.['isError'] ? result['structuredContent'] : undefined);
    return reported?.['request_id'] === undefined ? [] : [{ reported: reported['request_id'], requestId }];
  });
  t.ok(errors.length >= 2, `${errors.length} errors`);
  for (const { reported, requestId } of errors) t.equal(reported, requestId);
});

t.test('the events of the life are counted', async (t) => {
  const atLeast = (least: number, name: string, labels: Record<string, string> = {}) =>
    t.ok(
      (counted(name, labels) ?? 0) >= least,
      `${name} ${JSON.stringify(labels)}: ${counted(name, labels)}`,
    );
  atLeast(1, 'http_requests_total', { route: '/subscribe', method: 'POST', status: '200' });
  atLeast(1, 'http_requests_total', { route: '/voice/presence/:number', status: '426' });
  atLeast(1, 'http_requests_total', { route: 'none', status: '404' });
  atLeast(1, 'http_request_duration_seconds_count', { route: '/sms/send', method: 'POST' });
  atLeast(2, 'http_malformed_requests_total');
  atLeast(2, 'refusals_total', { code: 'internal_error' });
  atLeast(1, 'refusals_total', { code: 'forbidden' });
  atLeast(1, 'payment_attempts_total', { method: 'x402_v1', outcome: 'settled' });
  atLeast(1, 'payment_attempts_total', { method: 'x402_v1', outcome: 'already_used' });
  atLeast(1, 'payment_attempts_total', { method: 'x402_v1', outcome: 'unavailable' });
  atLeast(1, 'payment_attempts_total', { method: 'x402_v1', outcome: 'rejected' });
  atLeast(1, 'payments_verified_total', { method: 'x402_v1' });
  atLeast(1, 'payment_refusals_total', { code: 'payment_required' });
  atLeast(1, 'settlement_duration_seconds_count', { chain: '84532', result: 'applied' });
  t.equal(counted('payments', { state: 'applied' }), 1);
  t.equal(counted('numbers', { state: 'held' }), 2);
  t.equal(counted('subscriptions', { state: 'expired' }), 0);
  t.equal(counted('nodes', { state: 'linked' }), 2);
  t.equal(counted('modems', { state: 'registered' }), 3);
  t.equal(counted('waitlist_entries', { state: 'waiting' }), 2);
  atLeast(2, 'sms_sent_total', { outcome: 'accepted' });
  atLeast(2, 'sms_sent_total', { outcome: 'refused' });
  t.equal(counted('sms_received_total', { result: 'stored' }), 1);
  t.equal(counted('sms_received_total', { result: 'unheld' }), 1);
  t.equal(counted('sms_claim_delay_seconds_count'), 1);
  t.equal(counted('sms_waits'), 0);
  t.equal(counted('calls_total', { direction: 'inbound', reason: 'remote_hangup' }), 1);
  t.equal(counted('calls_total', { direction: 'outbound' }), 1);
  t.equal(counted('call_duration_seconds_count', { direction: 'inbound' }), 1);
  t.equal(counted('audio_frames_total', { outcome: 'late' }), 2);
  t.equal(counted('calls_up'), 0);
  t.equal(counted('websockets', { kind: 'node' }), 2);
  t.equal(counted('websockets', { kind: 'presence' }), 1);
  t.equal(counted('database_up'), 1);
  atLeast(1, 'database_connections');
  atLeast(1, 'database_errors_total', { class: '23' });
  atLeast(100, 'database_query_duration_seconds_count');
  for (const task of ['reconcile', 'gas', 'waitlist', 'probes', 'webhooks'])
    atLeast(Date.now() / 1000 - 600, 'housekeeping_last_success_timestamp_seconds', { task });
  atLeast(0.0001, 'relayer_balance_ether', { chain: '84532' });
  t.equal(readingOf(families, 'nodejs_eventloop_lag_seconds') === undefined, false, 'event loop');
  t.equal(readingOf(families, 'process_resident_memory_bytes') === undefined, false, 'memory');
});

t.test('without a database the other metrics are still exported', async (t) => {
  const now = readExposition(pageAtTheEnd);
  t.equal(readingOf(now, 'simrack_database_up'), 0);
  t.equal(readingOf(now, 'simrack_numbers'), undefined);
  t.ok((readingOf(now, 'simrack_refusals_total', { code: 'unavailable' }) ?? 0) > 0);
});

// prometheus.io/docs/practices/naming, /instrumenting/writing_exporters, and the rules of `promtool check metrics`.
t.test('the names keep to the conventions', async (t) => {
  for (const { name, type, help, samples } of ours) {
    t.match(name, /^simrack_[a-z][a-z0-9_]*[a-z0-9]$/, name);
    t.notMatch(
      name,
      /__|_(?:counter|gauge|histogram|metric|info_total)(?:_|$)/,
      `${name}: no type in a name`,
    );
    t.ok(help.length > 5 && !help.endsWith('.'), `${name}: ${help}`);
    t.equal(
      name.endsWith('_total'),
      type === 'counter',
      `${name}: _total is of counters, and of all of them`,
    );
    t.notMatch(name, /_(?:bucket|sum|count)$/, `${name}: suffixes of histograms`);
    t.notMatch(
      name,
      /(?:^|_)(?:ms|milliseconds|millis|minutes|hours|kb|mb|kilobytes|percent)(?:_|$)/,
      `${name}: base units`,
    );
    if (type === 'histogram') t.match(name, /_seconds$/, `${name}: a unit`);
    if (type === 'histogram') checkHistogram(t, { name, type, help, samples });
    for (const { labels, value } of samples) {
      t.ok(Number.isFinite(value) && (type === 'gauge' || value >= 0), `${name} ${value}`);
      for (const label of Object.keys(labels)) {
        if (type === 'histogram' && label === 'le') continue;
        t.match(label, /^[a-z]+$/, `${name}{${label}}`);
        t.notOk(name.includes(`_by_${label}`), `${name}: a label in a name`);
      }
    }
  }
});

function checkHistogram(t: Test, { name, samples }: Family): void {
  const series = new Map<string, Array<{ le: number; value: number }>>();
  for (const { name: sample, labels, value } of samples) {
    if (!sample.endsWith('_bucket')) continue;
    const { le, ...others } = labels;
    const key = JSON.stringify(others);
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    series.set(key, [...(series.get(key) ?? []), { le: bound, value }]);
  }
  for (const [key, buckets] of series) {
    t.equal(buckets.at(-1)?.le, Number.POSITIVE_INFINITY, `${name}${key}: +Inf is last`);
    const isRising = buckets.every(({ le, value }, at) => {
      const before = buckets[at - 1];
      return before === undefined || (le > before.le && value >= before.value);
    });
    t.ok(isRising, `${name}${key}: buckets are cumulative`);
    const labels = JSON.parse(key) as Record<string, string>;
    t.equal(
      readingOf(families, `${name}_count`, labels),
      buckets.at(-1)?.value,
      `${name}${key}: _count is +Inf`,
    );
  }
}

t.test('labels are few, and from fixed sets', async (t) => {
  const routes = new Set(['none', '/']);
  for (const { name, samples } of ours) {
    const series = samples.map(({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
    const count = new Set(series).size;
    t.ok(
      count <= (name.includes('_http_') ? SERIES_OF_REQUESTS_MAX : SERIES_MAX),
      `${name}: ${count} series`,
    );
    for (const { labels } of samples)
      for (const [label, value] of Object.entries(labels)) {
        if (label === 'le') continue;
        if (label === 'route') routes.add(value);
        else
          t.match(
            value,
            /^[A-Za-z][A-Za-z0-9_]{0,40}$|^\d{2,8}$|^[0-9A-Z]{2}$/,
            `${name}{${label}="${value}"}`,
          );
      }
  }
  for (const route of routes) t.match(route, /^none$|^(?:\/(?:[a-z.:-]|[A-Z_])*[a-zA-Z]*)+$/, route);
});

t.test('the reference has every metric, with its labels, and no other', async (t) => {
  const documented = documentedMetrics('control-plane');
  t.same([...documented.keys()].sort(), ours.map(({ name }) => name).sort());
  for (const { name, samples } of ours) {
    for (const { labels } of samples) {
      const { le: _, ...reported } = labels;
      t.same(Object.keys(reported).sort(), documented.get(name), name);
    }
  }
});

t.test('the service still stops as it should', async (t) => {
  t.equal(await life.service.stop(), 0);
});
