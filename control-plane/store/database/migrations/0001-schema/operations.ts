// Tables for operators: audit log, alerts, probes, samples. Also the waitlist.

export const OPERATIONS = [
  // Generated keys that all instances share.
  `create table secrets (
    name text primary key,
    value text not null
  )`,
  // One row.
  `create table pool (
    id boolean default true primary key check (id),
    is_open boolean not null,
    opening bigint not null
  )`,
  'insert into pool (is_open, opening) values (false, 0)',
  `create table waitlist (
    id text primary key,
    email text not null,
    email_key text not null unique,
    unsubscribe_token text not null unique,
    registered_at timestamptz not null,
    state text not null check (state in ('waiting', 'notified', 'refused')),
    after_opening bigint not null,
    mail_opening bigint,
    attempts integer not null default 0,
    claimed_until timestamptz,
    retry_at timestamptz,
    notified_at timestamptz
  )`,
  "create index waitlist_waiting on waitlist (registered_at, id) where state = 'waiting'",
  // Addresses that left the waitlist within a week of a mail.
  `create table waitlist_mailed (
    email_hash text primary key,
    mailed_at timestamptz not null
  )`,
  `create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    actor text not null,
    action text not null,
    subject text not null,
    detail jsonb not null,
    result text not null check (result in ('begun', 'ok', 'refused', 'failed')),
    why text
  )`,
  'create index audit_log_by_subject on audit_log (subject)',
  // The history of a number.
  `create index audit_log_reassigned_from on audit_log ((detail ->> 'from')) where action = 'reassignNumber'`,
  `create index audit_log_reassigned_to on audit_log ((detail ->> 'to')) where action = 'reassignNumber'`,
  `create table operators (
    name text primary key,
    key_hash bytea not null unique,
    created_at timestamptz not null
  )`,
  `create table operator_sessions (
    hash bytea primary key,
    operator text not null references operators (name) on delete cascade,
    created_at timestamptz not null,
    used_at timestamptz not null
  )`,
  'create index operator_sessions_by_operator on operator_sessions (operator)',
  `create table alerts (
    id text primary key,
    kind text not null,
    subject text not null,
    severity text not null check (severity in ('warning', 'critical')),
    summary text not null,
    advice text not null,
    reading bigint,
    since timestamptz not null,
    seen_at timestamptz not null,
    raised_at timestamptz,
    cause text,
    well_since timestamptz,
    recovered_at timestamptz,
    worse_since timestamptz,
    check (recovered_at is null or raised_at is not null)
  )`,
  'create unique index alerts_open on alerts (kind, subject) where recovered_at is null',
  'create index alerts_by_age on alerts (recovered_at)',
  'create index alerts_by_subject on alerts (subject)',
  `create table alert_messages (
    id text primary key,
    channel text not null,
    state text not null check (state in ('open', 'sent', 'given_up')),
    created_at timestamptz not null,
    attempts integer not null default 0,
    claimed_until timestamptz,
    retry_at timestamptz
  )`,
  // One open message per channel: the end of an alert is never sent before its beginning.
  "create unique index alert_messages_open on alert_messages (channel) where state = 'open'",
  `create table alert_tidings (
    alert_id text not null references alerts (id) on delete cascade,
    change text not null check (change in ('raised', 'escalated', 'recovered')),
    channel text not null,
    message_id text not null references alert_messages (id) on delete cascade,
    severity text not null check (severity in ('warning', 'critical')),
    summary text not null,
    advice text not null,
    primary key (alert_id, change, channel)
  )`,
  'create index alert_tidings_by_message on alert_tidings (message_id)',
  `create table probes (
    id text primary key,
    position bigint generated always as identity,
    kind text not null check (kind in ('sms', 'call')),
    is_scheduled boolean not null,
    token_digest bytea not null unique,
    from_number text not null,
    from_iccid text not null,
    from_node text not null,
    from_slot text not null,
    from_carrier text,
    to_number text not null,
    to_iccid text not null,
    to_node text not null,
    to_slot text not null,
    to_carrier text,
    started_at timestamptz not null,
    deadline_at timestamptz not null,
    ended_at timestamptz,
    result text check (result in ('delivered', 'failed', 'abandoned')),
    failed_end text check (failed_end in ('sender', 'recipient', 'either')),
    why text,
    latency_ms integer,
    -- Texts that prove the number of a SIM: they say nothing of the slot at their other end.
    is_admission boolean not null default false,
    -- Its recipient was sold: it says nothing of slots that are for sale.
    to_subscriber boolean not null default false,
    -- The fact that brought the text: another copy of the text is a message.
    arrived_by text unique,
    arrived_at timestamptz,
    check ((result is null) = (ended_at is null) and (result = 'failed') = (failed_end is not null)
      and (result = 'delivered') = (latency_ms is not null) and (arrived_by is null) = (arrived_at is null))
  )`,
  'create index probes_open on probes (deadline_at) where result is null',
  'create index probes_history on probes (position desc)',
  'create index probes_time on probes (started_at)',
  'create index probes_recipient on probes (to_iccid, started_at)',
  'create index probes_from_slot on probes (from_node, from_slot)',
  'create index probes_to_slot on probes (to_node, to_slot)',
  'create index probes_admission on probes (started_at) where is_admission',
  'create index probes_to_subscribers on probes (started_at) where to_subscriber',
  // SIMs of sold numbers to which texts do not arrive, while they are in the slot in which that was found.
  `create table unreached_sims (
    iccid text primary key,
    node_id text not null,
    slot text not null,
    since timestamptz not null
  )`,
  // When a text was last received, to the minute: whether a number receives is not judged by texts, which their holder deletes.
  `create table last_received (
    subscription_id text primary key references subscriptions (id) on delete cascade,
    at timestamptz not null
  )`,
  // One row: the instance that runs a round of probes.
  `create table probe_turn (
    id boolean default true primary key check (id),
    held_by text,
    held_until timestamptz
  )`,
  'insert into probe_turn default values',
  // One row per minute.
  `create table fleet_samples (
    at timestamptz primary key,
    slots_up integer,
    slots integer,
    available integer,
    held integer,
    calls_up integer,
    sms_sent integer not null default 0,
    sms_delivered integer not null default 0,
    sms_failed integer not null default 0,
    sms_received integer not null default 0,
    calls_answered integer not null default 0,
    calls_failed integer not null default 0,
    audio_frames bigint not null default 0,
    audio_gaps bigint not null default 0
  )`,
];
