// Texts and calls.

export const MESSAGES = [
  `create table messages (
    id bigint generated always as identity primary key,
    subscription_id text not null references subscriptions (id) on delete cascade,
    direction text not null check (direction in ('sent', 'received')),
    from_number text not null,
    to_number text not null,
    body text not null,
    message_id text unique,
    status text,
    command_id text unique,
    command_node_id text,
    fact_key text unique,
    partial boolean not null default false,
    created_at timestamptz not null,
    received_at timestamptz,
    delivered_at timestamptz,
    delivered_parts integer[] not null default '{}',
    ended_by_report boolean not null default false,
    opt_out_type text check (opt_out_type in ('stop', 'start')),
    mms jsonb,
    receipt_salt text not null default gen_random_uuid()::text
  )
  -- A claim leaves a dead row. By default, a fifth of the table may be dead before it is cleaned.
  with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`,
  // With the direction, a page of one direction does not fetch the messages of the other one.
  'create index messages_history on messages (subscription_id, created_at desc, id desc, direction)',
  `create index messages_undelivered on messages (subscription_id, id)
    where direction = 'received' and delivered_at is null`,
  `create index messages_open on messages (command_node_id, id)
    where direction = 'sent' and status in ('sending', 'unknown')`,
  'create index messages_by_age on messages (created_at)',
  `create unique index messages_mms on messages (subscription_id, from_number, (mms ->> 'transaction_id'))
    where mms is not null`,
  // The row stays when texts are allowed again: an older keyword may be delivered later.
  `create table opt_outs (
    subscription_id text not null references subscriptions (id) on delete cascade,
    peer text not null,
    is_opted_out boolean not null,
    changed_at timestamptz not null,
    primary key (subscription_id, peer)
  )`,
  // A row for each segment that was handed to a node in the last day. Recipient and content are digests.
  `create table recent_sends (
    command_id text not null,
    segment smallint not null,
    subscription_id text not null references subscriptions (id) on delete cascade,
    recipient text not null,
    content text not null,
    sent_at timestamptz not null,
    primary key (command_id, segment)
  )
  with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`,
  'create index recent_sends_of_subscription on recent_sends (subscription_id, sent_at)',
  'create index recent_sends_by_age on recent_sends (sent_at)',
  // A row for each text of a subscriber that had a slot, without any number. It outlives the subscription.
  `create table sent_texts (
    command_id text primary key,
    node_id text not null,
    slot text not null,
    carrier text,
    status text not null,
    failure_class text,
    report_ms bigint,
    sent_at timestamptz not null
  )
  with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`,
  'create index sent_texts_by_age on sent_texts (sent_at)',
  `create table sending_warnings (
    subscription_id text not null references subscriptions (id) on delete cascade,
    sending_limit text not null,
    used integer not null,
    max integer not null,
    at timestamptz not null,
    primary key (subscription_id, sending_limit)
  )`,
  'create index sending_warnings_by_age on sending_warnings (at)',
  `create table unreadable_messages (
    fact_key text primary key,
    iccid text not null,
    pdu text not null,
    reason text not null,
    received_at timestamptz not null
  )`,
  'create index unreadable_messages_of_sim on unreadable_messages (iccid)',
  'create index unreadable_messages_by_age on unreadable_messages (received_at)',
  // One row for all instances: readings of the clock that decide which messages are old.
  `create table message_retention (
    read_at timestamptz,
    confirmed_at timestamptz
  )`,
  'insert into message_retention default values',
  `create table calls (
    id text primary key,
    position bigint generated always as identity,
    subscription_id text references subscriptions (id) on delete cascade,
    number text,
    iccid text not null,
    node_id text not null,
    direction text not null check (direction in ('inbound', 'outbound')),
    peer text,
    state text not null check (state in ('dialing', 'ringing', 'active', 'ended')),
    started_at timestamptz not null,
    answered_at timestamptz,
    ended_at timestamptz,
    reason text,
    cause smallint,
    audio jsonb,
    stream jsonb,
    -- null: not asked
    answered_by text check (answered_by in ('undecided', 'human', 'machine', 'unknown')),
    ended_by_node boolean not null default false,
    up_at timestamptz not null,
    seen_at timestamptz not null,
    check ((state = 'ended') = (ended_at is not null and reason is not null and cause is not null))
  )`,
  'create index calls_history on calls (subscription_id, started_at desc, position desc)',
  'create index calls_by_state on calls (state, seen_at)',
  "create index calls_live on calls (iccid) where state <> 'ended'",
  'create index calls_unheld on calls (started_at) where subscription_id is null',
  'create index calls_unheld_of_sim on calls (iccid) where subscription_id is null',
  'create index calls_by_end on calls (ended_at) where ended_at is not null',
  'create index calls_by_number on calls (number, started_at desc) where number is not null',
];
