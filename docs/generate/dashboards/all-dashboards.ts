// The dashboards for Grafana: customers first, then money, messages and one node.
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { board, number, plot } from './panels.ts';

/** Metrics of the database are the same at each instance. */
const state = (metric: string, condition: string): string => `sum(max by (state) (${metric}{${condition}}))`;
const rate = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}[$__rate_interval]))`;
const quantile = (q: number, histogram: string, by = ''): string =>
  `histogram_quantile(${q}, sum by (le${by}) (rate(${histogram}_bucket[$__rate_interval])))`;

const fleet = board('simrack-fleet', 'Simrack: fleet', 'Customers without service, then nodes and slots.', [
  'Customers',
  number(
    'Sold numbers without service',
    `${state('simrack_sold_numbers', 'state!="registered"')} or vector(0)`,
    {
      about: 'Paid numbers that can neither send nor receive now.',
      badFrom: 1,
    },
  ),
  number('Sold numbers', state('simrack_sold_numbers', ''), { about: 'Numbers with a paid subscription.' }),
  number('Numbers on sale', 'max(simrack_numbers{state="available"})', {
    about: 'At 0 nothing can be sold.',
    badBelow: 1,
  }),
  number('Open alerts', 'sum(max by (kind) (simrack_alerts))', { about: 'Of the service.', badFrom: 1 }),
  plot('Sold numbers by state', [['max by (state) (simrack_sold_numbers)', '{{state}}']], {
    about: 'Only registered ones have service.',
    isStacked: true,
  }),
  plot('Alerts', [['max by (kind) (simrack_alerts) > 0', '{{kind}}']], {
    about: 'Open alerts of the service.',
  }),
  'Nodes and slots',
  plot('Nodes by state', [['max by (state) (simrack_nodes)', '{{state}}']], {
    about: 'A node that is away receives nothing.',
    isStacked: true,
  }),
  plot('Slots by state', [['max by (state) (simrack_modems)', '{{state}}']], {
    about: 'Slots of nodes without a link are node_away.',
    isStacked: true,
  }),
  plot('Journals', [['max by (node) (simrack_fleet_node_journal_depth)', '{{node}}']], {
    about: 'Facts that the service has not acknowledged, near 0.',
  }),
  plot(
    'Slots without network',
    [['count by (node) (max by (node, slot) (simrack_fleet_slot_state{state!="registered"}))', '{{node}}']],
    { about: 'By node, from what nodes report.' },
  ),
]);

const money = board('simrack-money', 'Simrack: money', 'Payments, settlement, and gas of the relayer.', [
  'Sales',
  number('Active subscriptions', 'max(simrack_subscriptions{state="active"})', {
    about: 'Paid and not expired.',
  }),
  number('Settled in 24 h', 'sum(increase(simrack_payment_attempts_total{outcome="settled"}[24h]))', {
    about: 'Payments that were settled in their request.',
  }),
  number(
    'Faults in 24 h',
    'sum(increase(simrack_payment_attempts_total{outcome="failed"}[24h])) or vector(0)',
    {
      about: 'Each is a bug in the service.',
      badFrom: 1,
    },
  ),
  number('Transfers left', 'min(simrack_relayer_transfers_left)', {
    about: 'Transfers that the gas of the relayer pays for.',
    badBelow: 100,
  }),
  plot('Payments by outcome', [[rate('simrack_payment_attempts_total', 'outcome'), '{{outcome}}']], {
    about: 'Requests with a payment, a second.',
  }),
  plot('Refusals', [[rate('simrack_payment_refusals_total', 'code'), '{{code}}']], {
    about: '402 answers a second; payment_required asked only for the price.',
  }),
  plot('Payments by state', [['max by (state) (simrack_payments)', '{{state}}']], {
    about: 'Rows of the ledger.',
  }),
  plot(
    'Time to settle',
    [
      [quantile(0.5, 'simrack_settlement_duration_seconds'), 'median'],
      [quantile(0.99, 'simrack_settlement_duration_seconds'), 'p99'],
    ],
    { about: 'From the submission of a transfer to its result.', unit: 's' },
  ),
  plot('Ether of the relayer', [['min by (chain) (simrack_relayer_balance_ether)', '{{chain}}']], {
    about: 'Pays the gas of transfers.',
  }),
  plot('Finished in the background', [[rate('simrack_payments_reconciled_total', 'result'), '{{result}}']], {
    about: 'Payments that the reconciler finished, a second.',
  }),
]);

const messages = board(
  'simrack-messages',
  'Simrack: messages and calls',
  'Texts and calls, and how long they take.',
  [
    'Texts',
    plot('Sent', [[rate('simrack_sms_sent_total', 'outcome'), '{{outcome}}']], {
      about: 'Texts a second, by outcome.',
      isStacked: true,
    }),
    plot('Received', [[rate('simrack_sms_received_total', 'result'), '{{result}}']], {
      about: 'Texts a second; unheld and undated ones had no subscriber.',
      isStacked: true,
    }),
    plot(
      'Time to send',
      [
        [quantile(0.5, 'simrack_sms_send_duration_seconds'), 'median'],
        [quantile(0.99, 'simrack_sms_send_duration_seconds'), 'p99'],
      ],
      { about: 'From the request until the carrier accepted the text.', unit: 's' },
    ),
    plot('Delivery reports', [[rate('simrack_sms_delivery_reports_total', 'status'), '{{status}}']], {
      about: 'Reports of carriers a second.',
    }),
    plot(
      'Texts delivered',
      [
        [
          'sum by (carrier) (increase(simrack_sms_ended_total{result="delivered"}[1h])) / sum by (carrier) (increase(simrack_sms_ended_total[1h]))',
          '{{carrier}}',
        ],
      ],
      {
        about: 'Share of the texts of subscribers with a known end in an hour, by carrier.',
        unit: 'percentunit',
      },
    ),
    plot(
      'Failed texts',
      [[rate('simrack_sms_ended_total{result!="delivered"}', 'carrier, result'), '{{carrier}} {{result}}']],
      { about: 'Texts of subscribers a second, by carrier and reason.' },
    ),
    plot(
      'Time to the report',
      [[quantile(0.95, 'simrack_sms_report_delay_seconds', ', carrier'), '{{carrier}}']],
      {
        about: 'From the request until the report that a text was delivered, p95.',
        unit: 's',
      },
    ),
    plot(
      'Probes',
      [[rate('simrack_probes_total', 'carrier, kind, result'), '{{carrier}} {{kind}} {{result}}']],
      {
        about: 'Delivery probes that ended, a second.',
      },
    ),
    plot('Limited requests', [[rate('simrack_rate_limited_total', 'limit'), '{{limit}}']], {
      about: 'Requests a second that a limit refused.',
    }),
    'Calls',
    plot('Calls', [['sum by (direction, state) (simrack_calls_up)', '{{direction}} {{state}}']], {
      about: 'In progress.',
    }),
    plot('Ends', [[rate('simrack_calls_total', 'reason'), '{{reason}}']], {
      about: 'modem_lost, contact_lost, network_failure and abandoned are faults.',
    }),
    plot('Lost audio', [[rate('simrack_audio_frames_total', 'outcome'), '{{outcome}}']], {
      about: 'Frames of 20 ms a second, of ended calls.',
    }),
    plot('Requests', [[quantile(0.99, 'simrack_http_request_duration_seconds', ', route'), '{{route}}']], {
      about: 'Duration, p99.',
      unit: 's',
    }),
  ],
);

const node = board('simrack-node', 'Simrack: one node', 'Reports of one node to the service.', [
  { label: 'node', metric: 'simrack_fleet_node_linked' },
  number('Link', 'max(simrack_fleet_node_linked{node="$node"})', {
    about: '1 while it is up.',
    badBelow: 1,
  }),
  number('Alarms', 'sum(max by (alarm) (simrack_fleet_node_alarm{node="$node"})) or vector(0)', {
    about: 'Alarms of the whole node.',
    badFrom: 1,
  }),
  number('Journal', 'max(simrack_fleet_node_journal_depth{node="$node"})', {
    about: 'Facts that the service has not acknowledged.',
    badFrom: 100,
  }),
  number('Slots without metrics', 'max(simrack_fleet_node_hidden_slots{node="$node"})', {
    about: 'The node has used too many names.',
    badFrom: 1,
  }),
  plot(
    'Slots by state',
    [['count by (state) (max by (slot, state) (simrack_fleet_slot_state{node="$node"}))', '{{state}}']],
    {
      about: 'Only registered ones serve numbers.',
      isStacked: true,
    },
  ),
  plot('Signal', [['max by (slot) (simrack_fleet_slot_signal_dbm{node="$node"})', '{{slot}}']], {
    about: 'Below -105 texts and calls may fail.',
    unit: 'dBm',
  }),
  plot(
    'Message storage',
    [
      [
        'max by (slot) (simrack_fleet_slot_storage_used{node="$node"}) / (max by (slot) (simrack_fleet_slot_storage_size{node="$node"}) > 0)',
        '{{slot}}',
      ],
    ],
    { about: 'When it is full, texts wait in the network.', unit: 'percentunit' },
  ),
  plot(
    'Failed probes',
    [
      [
        'sum by (slot, kind) (increase(simrack_probe_slot_results_total{node="$node", result="failed"}[1h]))',
        '{{slot}} {{kind}}',
      ],
    ],
    { about: 'Delivery probes of the last hour.' },
  ),
]);

/** By the name of its file. */
export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  'fleet.json': fleet,
  'money.json': money,
  'messages.json': messages,
  'node.json': node,
};
