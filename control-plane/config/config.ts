// The control plane's options: only this module reads its environment and flags.
import * as z from 'zod';
import { type ChainId, NETWORKS, SAFE_DEPTH_BLOCKS } from '#shared/api/payment-networks.ts';
import { DEFAULT_DESTINATIONS, destinationsOption } from '#shared/destination-list.ts';
import {
  booleanOption,
  integerOption,
  LOG_FORMAT_OPTION,
  LOG_LEVEL_OPTION,
  type OptionsOf,
  optionalInteger,
  readOptions,
} from '#shared/process/options.ts';
import { addressOptionSchema } from './address-option.ts';
import { ALERT_OPTIONS } from './alert-options.ts';
import { BUS_OPTIONS } from './bus-options.ts';
import { CONSOLE_OPTIONS } from './console-options.ts';
import { DATABASE_OPTIONS } from './database-options.ts';
import { mailFromSchema, smtpUrlSchema } from './mail-options.ts';
import { PROBE_OPTIONS } from './probe-options.ts';
import { RELAYER_OPTIONS } from './relayer-options.ts';
import { SENDING_OPTIONS } from './sending-options.ts';
import { SPEECH_OPTIONS } from './speech-options.ts';
import { WEBHOOK_OPTIONS } from './webhook-options.ts';

const urlSchema = (protocols: RegExp, about: string) =>
  z
    .string({ error: `required: ${about}` })
    .refine((text) => URL.canParse(text) && protocols.test(new URL(text).protocol), `must be ${about}`);

/** Every option of the service; operator commands use some of them. */
export const OPTIONS = {
  port: { env: 'PORT', about: 'Port of the API; 0: a free port', schema: integerOption(0, 65_535, 8080) },
  host: { env: 'HOST', about: 'Address of the API', schema: z.string().min(1).default('127.0.0.1') },
  publicUrl: {
    env: 'PUBLIC_URL',
    about: 'Base URL that clients use; default http://<host>:<port>',
    schema: urlSchema(/^https?:$/, 'an http(s) URL').optional(),
  },
  serviceName: {
    env: 'SERVICE_NAME',
    about: 'Name of the service, as the catalog and the pages show it',
    schema: z.string().min(1).max(60).default('Simrack'),
  },
  environment: {
    env: 'ENVIRONMENT',
    about: 'Name of this installation in the catalog, such as production or staging',
    schema: z.string().min(1).max(30).default('production'),
  },
  securityContact: {
    env: 'SECURITY_CONTACT',
    about: 'mailto: or https: URL for security.txt; unset: no security.txt',
    schema: urlSchema(/^(mailto|https):$/, 'a mailto: or https: URL').optional(),
  },
  serviceDomain: {
    env: 'SERVICE_DOMAIN',
    about: 'Domain in the text that wallets sign; default: the host of the public URL',
    schema: z
      .string()
      .regex(/^[a-z0-9.-]{1,253}$/i, 'must be a domain name')
      .optional(),
  },
  ...DATABASE_OPTIONS,
  ...BUS_OPTIONS,
  dataDir: {
    env: 'DATA_DIR',
    about: 'Folder of the embedded database and of the socket for operator commands',
    schema: z.string().min(1).default('data'),
  },
  pinKeyFile: {
    env: 'PIN_KEY_FILE',
    about:
      'File of the key that encrypts the PINs of SIM cards in the database; the first PIN creates it; unset: pin.key in DATA_DIR. Instances on one database need the same key',
    schema: z.string().min(1).optional(),
  },
  receiptKeyFile: {
    env: 'RECEIPT_KEY_FILE',
    about:
      'File of the key that signs receipts (Ed25519, PEM), made at the first use; unset: receipt.key in DATA_DIR',
    schema: z.string().min(1).optional(),
  },
  paymentsFile: {
    env: 'PAYMENTS_FILE',
    about: 'File that lists several networks and assets; replaces the options for one network',
    schema: z.string().min(1).optional(),
  },
  chainId: {
    env: 'CHAIN_ID',
    about: 'Chain that payments settle on: 8453 (Base) or 84532 (Base Sepolia)',
    schema: z
      .enum(Object.keys(NETWORKS) as [`${ChainId}`], {
        error: `must be ${Object.keys(NETWORKS).join(' or ')}`,
      })
      .transform((text) => Number(text) as ChainId)
      .default(84532),
  },
  rpcUrl: {
    env: 'RPC_URL',
    about: 'JSON-RPC URL of the chain',
    schema: urlSchema(/^https?:$/, 'an http(s) URL').optional(),
  },
  rpcTimeoutMs: {
    env: 'RPC_TIMEOUT_MS',
    about: 'Time limit for one JSON-RPC call; a failed call is tried once more',
    schema: integerOption(100, 60_000, 10_000),
  },
  facilitatorUrl: {
    env: 'FACILITATOR_URL',
    about: 'x402 facilitator that submits the transfers; unset: the built-in relayer submits them',
    schema: urlSchema(/^https?:$/, 'an http(s) URL').optional(),
  },
  asset: {
    env: 'ASSET',
    about: 'Token contract; default: USDC of the chain',
    schema: addressOptionSchema.optional(),
  },
  payTo: {
    env: 'PAY_TO',
    about: 'Address that receives the payments; never share it between services',
    schema: addressOptionSchema.optional(),
  },
  ...RELAYER_OPTIONS,
  metricsPort: {
    env: 'METRICS_PORT',
    about: 'Port of GET /metrics, for Prometheus; 0: a free port; unset: no metrics',
    schema: optionalInteger(0, 65_535).optional(),
  },
  metricsHost: {
    env: 'METRICS_HOST',
    about: 'Address that GET /metrics listens on',
    schema: z.string().min(1).default('127.0.0.1'),
  },
  priceAtomic: {
    env: 'PRICE_ATOMIC',
    about: 'Price of a year, in the smallest unit of the token',
    schema: z
      .string()
      .regex(/^[1-9]\d{0,17}$/, 'must be a positive integer of at most 18 digits')
      .transform(BigInt)
      .default(1_800_000_000n),
  },
  paidAheadYearsMax: {
    env: 'PAID_AHEAD_YEARS_MAX',
    about: 'How many years ahead a subscription may be paid; later payments are refused',
    schema: integerOption(1, 100, 2),
  },
  safeDepthBlocks: {
    env: 'SAFE_DEPTH_BLOCKS',
    about: 'Number of blocks after which a transfer is final, if the RPC has no `safe` block',
    schema: integerOption(1, 100_000, SAFE_DEPTH_BLOCKS),
  },
  settlementWaitMs: {
    env: 'SETTLEMENT_WAIT_MS',
    about: 'How long /subscribe waits for a block; then the service finishes the payment later',
    schema: integerOption(100, 120_000, 20_000),
  },
  requestsPerMinute: {
    env: 'REQUESTS_PER_MINUTE',
    about: 'Requests per minute and address, without a token',
    schema: integerOption(1, 10_000_000, 300),
  },
  tokenRequestsPerMinute: {
    env: 'TOKEN_REQUESTS_PER_MINUTE',
    about: 'Requests per minute and subscription, over all its tokens',
    schema: integerOption(1, 10_000_000, 1_200),
  },
  noncesPerMinute: {
    env: 'AUTH_NONCES_PER_MINUTE',
    about: 'Requests to /auth/nonce per minute and address',
    schema: integerOption(1, 1_000_000, 60),
  },
  signInsPerMinute: {
    env: 'AUTH_ATTEMPTS_PER_MINUTE',
    about: 'Requests to /auth and POST /receipts, together, per minute and address',
    schema: integerOption(1, 1_000_000, 30),
  },
  waitlistPerMinute: {
    env: 'WAITLIST_PER_MINUTE',
    about: 'Requests to /waitlist per minute and address',
    schema: integerOption(1, 1_000_000, 10),
  },
  linkAttemptsPerMinute: {
    env: 'LINK_ATTEMPTS_PER_MINUTE',
    about: 'Refused node links and media links per minute and address',
    schema: integerOption(1, 1_000_000, 600),
  },
  refusedTransfersPerDay: {
    env: 'REFUSED_TRANSFERS_PER_DAY',
    about: 'Payments per day and address that may be sent to the chain or to a facilitator in vain',
    schema: integerOption(1, 1_000_000, 100),
  },
  connectionsPerAddress: {
    env: 'CONNECTIONS_PER_ADDRESS',
    about: 'Open connections per address; an IPv6 /64 is one address; no effect with PROXY_HOPS',
    schema: integerOption(1, 1_000_000, 512),
  },
  smtpUrl: {
    env: 'SMTP_URL',
    about: 'Mail server for the waitlist and alerts, smtp(s)://user:password@host:port; unset: no mail',
    schema: smtpUrlSchema.optional(),
  },
  mailFrom: {
    env: 'MAIL_FROM',
    about: 'Sender of this mail: an address, or Name <address>',
    schema: mailFromSchema.optional(),
  },
  ...ALERT_OPTIONS,
  proxyHops: {
    env: 'PROXY_HOPS',
    about:
      'Number of proxies in front of the service; it trusts that many entries at the end of X-Forwarded-For',
    schema: integerOption(0, 10, 0),
  },
  headersTimeoutMs: {
    env: 'HEADERS_TIMEOUT_MS',
    about: 'Time limit for the headers of a request',
    schema: integerOption(100, 600_000, 10_000),
  },
  requestTimeoutMs: {
    env: 'REQUEST_TIMEOUT_MS',
    about: 'Time limit for a whole request',
    schema: integerOption(100, 600_000, 30_000),
  },
  // Longer than the idle timeout of common proxies (60 s), so that they close first.
  keepAliveTimeoutMs: {
    env: 'KEEP_ALIVE_TIMEOUT_MS',
    about: 'How long an idle connection stays open',
    schema: integerOption(100, 600_000, 65_000),
  },
  unreadTimeoutMs: {
    env: 'UNREAD_TIMEOUT_MS',
    about: 'How long a client may leave its answer unread before it is disconnected',
    schema: integerOption(100, 600_000, 30_000),
  },
  heartbeatMs: {
    env: 'HEARTBEAT_MS',
    about: 'Interval between heartbeats on a node link',
    schema: integerOption(100, 600_000, 10_000),
  },
  enrolmentApproval: {
    env: 'ENROLMENT_APPROVAL',
    about:
      'Let a node with a new key connect only after an operator has approved the key: "control-plane node approve"',
    schema: booleanOption,
  },
  admitNewSims: {
    env: 'ADMIT_NEW_SIMS',
    about: 'Sell a new SIM at once; if false, an operator or a probe must admit it first',
    schema: booleanOption,
  },
  handoverWaitMs: {
    env: 'HANDOVER_WAIT_MS',
    about: 'How long a disconnected node keeps its SIMs before another node can take them',
    schema: integerOption(0, 3_600_000, 60_000),
  },
  graceDays: {
    env: 'GRACE_DAYS',
    about:
      'Days after the end of a subscription during which a payment restores it; then its messages are deleted',
    schema: integerOption(0, 3_650, 30),
  },
  quarantineDays: {
    env: 'QUARANTINE_DAYS',
    about: 'Days after the grace time before the number is sold again: old texts may still arrive',
    schema: integerOption(0, 3_650, 90),
  },
  messageDays: {
    env: 'MESSAGE_DAYS',
    about: 'Days after which messages are deleted; unset: they are kept as long as the subscription',
    schema: optionalInteger(1, 3_650).optional(),
  },
  ...PROBE_OPTIONS,
  sendTimeoutMs: {
    env: 'SEND_TIMEOUT_MS',
    about: 'How long /sms/send waits for the carrier',
    schema: integerOption(100, 300_000, 45_000),
  },
  segmentsMax: {
    env: 'SMS_SEGMENTS_MAX',
    about: 'Maximum number of segments in one outgoing SMS',
    schema: integerOption(1, 10, 1),
  },
  ...SENDING_OPTIONS,
  ...WEBHOOK_OPTIONS,
  dialTimeoutMs: {
    env: 'DIAL_TIMEOUT_MS',
    about: 'How long /voice/dial waits for the far end to ring',
    schema: integerOption(1_000, 90_000, 60_000),
  },
  streamHoldMs: {
    env: 'STREAM_HOLD_MS',
    about: 'How long a call stays up for a client whose stream broke',
    schema: integerOption(0, 60_000, 5_000),
  },
  unclaimedCallMs: {
    env: 'UNCLAIMED_CALL_MS',
    about: 'How long an answered call may have no stream before the service hangs up',
    schema: integerOption(1_000, 600_000, 30_000),
  },
  playoutQueueMs: {
    env: 'PLAYOUT_QUEUE_MS',
    about: 'How much audio of a client may wait; beyond that the oldest is dropped',
    schema: integerOption(100, 600_000, 60_000),
  },
  mediaBaseUrl: {
    env: 'MEDIA_BASE_URL',
    about: 'Base URL at which nodes reach this instance; required if several instances share one URL',
    schema: urlSchema(/^https?:$/, 'an http(s) URL').optional(),
  },
  socketsPerToken: {
    env: 'SOCKETS_PER_TOKEN',
    about: 'Open WebSockets per token',
    schema: integerOption(1, 100_000, 100),
  },
  waitsPerToken: {
    env: 'WAITS_PER_TOKEN',
    about: 'Waiting calls of receive_sms, wait_for_code and wait_for_call per token, together',
    schema: integerOption(1, 10_000, 16),
  },
  ...SPEECH_OPTIONS,
  destinations: {
    ...destinationsOption,
    envAlias: 'ALLOWED_DESTINATIONS',
    schema: destinationsOption.schema.default(DEFAULT_DESTINATIONS),
  },
  ...CONSOLE_OPTIONS,
  logLevel: LOG_LEVEL_OPTION,
  logFormat: LOG_FORMAT_OPTION,
} as const;

export type Config = OptionsOf<typeof OPTIONS>;

/** Ends the process with one line when a value is missing or invalid. `notes` are lines for --help. */
export function readConfig(notes: string): Config {
  return readOptions(
    'control-plane',
    `Sell numbers, store messages, and route texts and calls to the nodes.\n\n${notes}`,
    OPTIONS,
  );
}
