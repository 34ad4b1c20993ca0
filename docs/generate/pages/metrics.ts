// Every metric of the service and of the daemon, from registries as the running programs have them.
import type { Registry } from 'prom-client';
import { ServiceMetrics } from '../../../control-plane/metrics/service-metrics.ts';
import { NodeMetrics } from '../../../node-daemon/metrics/node-metrics.ts';
import { systemClock } from '../../../shared/clock.ts';
import { silentLogger } from '../../../shared/log.ts';
import { code, sentence, shownNumber, table } from '../markdown.ts';
import type { Page } from '../page.ts';

/** As prom-client keeps it: what its types leave out. */
interface Metric {
  name: string;
  help: string;
  labelNames: readonly string[];
  upperBounds?: readonly number[];
}

export const METRICS_PAGE: Page = {
  file: 'metrics.md',
  title: 'Metrics',
  about:
    'Both programs serve metrics as Prometheus text at `GET /metrics`. Labels hold fixed words and names of nodes, slots and networks; never a number, wallet, token, address or text. ' +
    'A histogram `name` has the series `name_bucket`, `name_sum` and `name_count`.',
  async body() {
    const { own, nodes } = serviceRegistries();
    return [
      '## control-plane',
      'Set `METRICS_PORT` to serve them. The service also exports `process_*` and `nodejs_*` of prom-client. Metrics that are counted in the database are the same on every instance: use `max`, not `sum`.',
      metricTable(own),
      '## Nodes at the service',
      'The service serves what its nodes report over their links at `GET /metrics/nodes`, on the same port. The label `node` is the name that the operator gave the node.',
      metricTable(nodes),
      '## node-daemon',
      'Set `metrics.port` in the configuration file to serve them.',
      metricTable(nodeRegistry()),
    ].join('\n\n');
  },
};

const none = new Map<string, number>();

/** The registries of the service: its own, and that of its nodes. */
function serviceRegistries(): Record<'own' | 'nodes', Registry> {
  const metrics = new ServiceMetrics({ clock: systemClock, log: silentLogger });
  metrics.watch({
    inventory: async () => ({
      payments: none,
      numbers: none,
      subscriptions: none,
      soldNumbers: none,
      nodes: none,
      modems: none,
      waitlist: none,
    }),
    inventoryStates: {
      payments: [],
      numbers: [],
      subscriptions: [],
      soldNumbers: [],
      nodes: [],
      modems: [],
      waitlist: [],
    },
    fleet: async () => [],
    waits: () => 0,
    webhooks: () => 0,
    connections: () => undefined,
    calls: () => [],
    sockets: () => ({}),
  });
  metrics.stop();
  return { own: metrics.registry, nodes: metrics.fleetRegistry };
}

const nodeRegistry = (): Registry =>
  new NodeMetrics({
    slots: () => [],
    journalDepth: () => 0,
    isJournalFailing: () => false,
    isLinked: () => false,
    alarms: () => [],
    hangingCalls: () => 0,
    callsUp: () => 0,
  }).registry;

function metricTable(registry: Registry): string {
  const metrics = registry.getMetricsAsArray() as unknown as Metric[];
  const rows = [...metrics]
    .sort((one, other) => one.name.localeCompare(other.name))
    .map((metric) => [
      code(metric.labelNames.length === 0 ? metric.name : `${metric.name}{${metric.labelNames.join(',')}}`),
      metric.constructor.name.toLowerCase(),
      sentence(metric.help) + bounds(metric),
    ]);
  return table(['Metric', 'Type', 'Meaning'], rows);
}

const bounds = ({ upperBounds }: Metric): string =>
  upperBounds === undefined ? '' : ` Buckets up to ${shownNumber(upperBounds.at(-1) ?? 0)} s.`;
