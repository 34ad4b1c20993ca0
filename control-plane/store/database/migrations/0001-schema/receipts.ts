// Receipts of subscriptions. Triggers, so that no statement that stores an event can forget its receipt. A restore brings the receipts
// themselves, and sets simrack.restoring.

const isRestoring = `coalesce(current_setting('simrack.restoring', true), '') = 'on'`;

export const RECEIPTS = [
  // Public halves, former ones too. The private half is in a file.
  `create table receipt_keys (
    id text primary key,
    jwk jsonb not null,
    created_at timestamptz not null
  )`,
  // A row is an event. Its place in the chain, its statement and its hash come together, when the subscriber first reads it.
  `create table receipts (
    position bigint generated always as identity primary key,
    subscription_id text not null references subscriptions (id) on delete cascade,
    kind text not null
      check (kind in ('sale', 'sale_reverted', 'refund', 'text_received', 'text_sent', 'call')),
    subject text not null,
    at timestamptz not null,
    facts jsonb not null,
    sequence integer check (sequence > 0),
    jws text,
    hash text,
    unique (subscription_id, kind, subject),
    check ((sequence is null) = (jws is null) and (sequence is null) = (hash is null))
  )`,
  'create unique index receipts_chain on receipts (subscription_id, sequence) where sequence is not null',
  'create index receipts_unsigned on receipts (subscription_id, position) where sequence is null',
  // The same as JSON.stringify of the four.
  `create function receipt_facts(message messages) returns jsonb language sql as $$
    select jsonb_build_object('message', message.id,
      'text_digest', encode(sha256(convert_to('[' || to_json(message.receipt_salt) || ',' || to_json(message.from_number) || ','
        || to_json(message.to_number) || ',' || to_json(message.body) || ']', 'UTF8')), 'hex'),
      'salt_digest', encode(sha256(convert_to(message.receipt_salt, 'UTF8')), 'hex'))
  $$`,
  `create function receipt_received_texts() returns trigger language plpgsql as $$
  begin
    if ${isRestoring} then return null; end if;
    insert into receipts (subscription_id, kind, subject, at, facts)
    select subscription_id, 'text_received', id::text, created_at, receipt_facts(added)
    from added where direction = 'received'
    order by id
    on conflict do nothing;
    return null;
  end $$`,
  `create trigger messages_receipt_received after insert on messages
    referencing new table as added for each statement execute function receipt_received_texts()`,
  `create function receipt_sent_text() returns trigger language plpgsql as $$
  begin
    insert into receipts (subscription_id, kind, subject, at, facts)
    values (new.subscription_id, 'text_sent', new.id::text, now(),
      receipt_facts(new) || jsonb_build_object('message_id', new.message_id))
    on conflict do nothing;
    return null;
  end $$`,
  // A carrier's reference: the carrier has it.
  `create trigger messages_receipt_sent after update of message_id on messages for each row
    when (new.direction = 'sent' and old.message_id is null and new.message_id is not null)
    execute function receipt_sent_text()`,
  // A node may report the real end of a call that was believed to have ended. If the receipt is signed, another one follows.
  `create function receipt_call() returns trigger language plpgsql as $$
  declare
    call jsonb := jsonb_build_object('call_id', new.id,
      'direction', new.direction, 'started_at', new.started_at, 'answered_at', new.answered_at,
      'duration_ms', coalesce(greatest(0, round(extract(epoch from new.ended_at - new.answered_at) * 1000)), 0),
      'reason', new.reason, 'cause', new.cause);
  begin
    if ${isRestoring} then return null; end if;
    insert into receipts (subscription_id, kind, subject, at, facts)
    values (new.subscription_id, 'call', new.id, new.ended_at, call)
    on conflict (subscription_id, kind, subject) do update set at = excluded.at, facts = excluded.facts
      where receipts.sequence is null;
    if not found then
      insert into receipts (subscription_id, kind, subject, at, facts)
      values (new.subscription_id, 'call', new.id || '/reported', new.ended_at, call)
      on conflict do nothing;
    end if;
    return null;
  end $$`,
  `create trigger calls_receipt_end after update of state on calls for each row
    when (new.subscription_id is not null and new.state = 'ended'
      and (old.state <> 'ended' or new.ended_by_node and not old.ended_by_node))
    execute function receipt_call()`,
  `create trigger calls_receipt_insert after insert on calls for each row
    when (new.subscription_id is not null and new.state = 'ended') execute function receipt_call()`,
  `create function receipt_payment() returns trigger language plpgsql as $$
  begin
    -- The ledger outlives its subscriptions.
    insert into receipts (subscription_id, kind, subject, at, facts)
    select subscriptions.id, kinds.kind, new.id, new.updated_at,
      jsonb_build_object('payment_id', new.id, 'network', 'eip155:' || new.chain_id, 'asset', new.asset, 'payer', new.payer,
        'amount', case kinds.kind when 'refund' then new.refund_value else new.value end::text,
        'transaction', case kinds.kind
          when 'refund' then (select transaction_hash from refunds where refunds.payment_id = new.id)
          else new.transfer_hash end)
      || case kinds.kind when 'sale' then jsonb_build_object('paid_from', new.paid_from, 'paid_until', new.paid_until)
        else '{}' end
    from subscriptions,
      (values ('applied', 'sale'), ('taken_back', 'sale_reverted'), ('refunded', 'refund')) as kinds (state, kind)
    where subscriptions.id = new.subscription_id and kinds.state = new.state
    for key share of subscriptions
    on conflict do nothing;
    return null;
  end $$`,
  `create trigger payments_receipt after update of state on payments for each row
    when (new.subscription_id is not null and new.state is distinct from old.state
      and new.state in ('applied', 'taken_back', 'refunded'))
    execute function receipt_payment()`,
  // A reorganization may put the transfer of a sale into another transaction. If the receipt is signed, another one follows.
  `create function receipt_transfer() returns trigger language plpgsql as $$
  begin
    update receipts set facts = facts || jsonb_build_object('transaction', new.transfer_hash)
    where subscription_id = new.subscription_id and kind = 'sale' and subject = new.id and sequence is null;
    if not found then
      insert into receipts (subscription_id, kind, subject, at, facts)
      select subscription_id, kind, new.id || '/final', new.final_at, facts || jsonb_build_object('transaction', new.transfer_hash)
      from receipts where subscription_id = new.subscription_id and kind = 'sale' and subject = new.id
      on conflict do nothing;
    end if;
    return null;
  end $$`,
  `create trigger payments_receipt_transfer after update of transfer_hash on payments for each row
    when (new.subscription_id is not null and new.state = 'applied' and old.state = 'applied'
      and new.transfer_hash is distinct from old.transfer_hash)
    execute function receipt_transfer()`,
];
