// Webhooks of subscriptions, and their deliveries: queued by triggers, in the transaction that stores the event.

export const WEBHOOKS = [
  `create table webhooks (
    id text primary key,
    subscription_id text not null references subscriptions (id) on delete cascade,
    position bigint generated always as identity,
    url text not null,
    events text[] not null,
    claim boolean not null,
    description text not null,
    enabled boolean not null default true,
    disabled_reason text,
    secret text not null,
    previous_secret text,
    previous_until timestamptz,
    created_at timestamptz not null,
    -- Grows with a new URL and when it is enabled: answers to earlier requests count no more.
    version integer not null default 0,
    -- Failed attempts since the last success.
    failures integer not null default 0,
    failing_since timestamptz,
    last_error text,
    paused_until timestamptz,
    -- The instance that sends its deliveries, in order.
    lease_instance text,
    lease_until timestamptz
  )`,
  'create index webhooks_of_subscription on webhooks (subscription_id)',
  // Without the content: it is read from the text or the call when it is sent, and deleted with it.
  `create table webhook_deliveries (
    id bigint generated always as identity primary key,
    webhook_id text not null references webhooks (id) on delete cascade,
    event_id text not null,
    type text not null,
    message_id bigint references messages (id) on delete cascade,
    call_id text references calls (id) on delete cascade,
    -- Of a sent text: its status when the event occurred.
    message_status text,
    occurred_at timestamptz not null,
    state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
    attempts integer not null default 0,
    -- When the next attempt is due. Compared with the clock of the service, which may differ from the clock of the database.
    next_at timestamptz not null default '-infinity',
    last_at timestamptz,
    status integer,
    error text,
    unique (webhook_id, event_id)
  )
  with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`,
  "create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, id) where state = 'waiting'",
  'create index webhook_deliveries_list on webhook_deliveries (webhook_id, id desc)',
  'create index webhook_deliveries_of_message on webhook_deliveries (message_id) where message_id is not null',
  'create index webhook_deliveries_of_call on webhook_deliveries (call_id) where call_id is not null',
  'create index webhook_deliveries_by_age on webhook_deliveries (occurred_at)',
  // Triggers, so that no statement that stores an event can forget it. A restore fills these tables while there is no webhook yet.
  // `for key share`: a webhook that is being deleted at the same moment gets nothing, instead of failing the transaction.
  `create function queue_received_texts() returns trigger language plpgsql as $$
  begin
    insert into webhook_deliveries (webhook_id, event_id, type, message_id, occurred_at)
    select webhooks.id, 'sms_' || added.id || '_received', 'sms.received', added.id, added.created_at
    from added join webhooks on webhooks.subscription_id = added.subscription_id
    where added.direction = 'received' and webhooks.enabled and 'sms.received' = any (webhooks.events)
    order by added.id
    for key share of webhooks
    on conflict (webhook_id, event_id) do nothing;
    return null;
  end $$`,
  `create trigger messages_queue_received after insert on messages
    referencing new table as added for each statement execute function queue_received_texts()`,
  `create function queue_text_status() returns trigger language plpgsql as $$
  begin
    insert into webhook_deliveries (webhook_id, event_id, type, message_id, message_status, occurred_at)
    select webhooks.id, 'sms_' || new.id || '_' || new.status, 'sms.status', new.id, new.status, now()
    from webhooks
    where webhooks.subscription_id = new.subscription_id and webhooks.enabled and 'sms.status' = any (webhooks.events)
    for key share of webhooks
    on conflict (webhook_id, event_id) do nothing;
    return null;
  end $$`,
  `create trigger messages_queue_status after update of status on messages for each row
    when (new.direction = 'sent' and new.status is distinct from old.status and new.status <> 'sending')
    execute function queue_text_status()`,
  `create trigger messages_queue_failure after insert on messages for each row
    when (new.direction = 'sent' and new.status <> 'sending') execute function queue_text_status()`,
  `create function queue_call_event() returns trigger language plpgsql as $$
  declare
    kind text := case new.state when 'active' then 'answered' else new.state end;
  begin
    insert into webhook_deliveries (webhook_id, event_id, type, call_id, occurred_at)
    select webhooks.id, new.id || '_' || kind, 'call.' || kind, new.id,
      coalesce(case new.state when 'ringing' then new.started_at when 'active' then new.answered_at else new.ended_at end, now())
    from webhooks
    where webhooks.subscription_id = new.subscription_id and webhooks.enabled and 'call.' || kind = any (webhooks.events)
    for key share of webhooks
    on conflict (webhook_id, event_id) do nothing;
    return null;
  end $$`,
  `create trigger calls_queue_begin after insert on calls for each row
    when (new.subscription_id is not null and (new.state in ('active', 'ended') or new.state = 'ringing' and new.direction = 'inbound'))
    execute function queue_call_event()`,
  `create trigger calls_queue_change after update of state on calls for each row
    when (new.subscription_id is not null and new.state <> old.state
      and (new.state in ('active', 'ended') or new.state = 'ringing' and new.direction = 'inbound'))
    execute function queue_call_event()`,
];
