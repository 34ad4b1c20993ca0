// Counts messages and calls from facts, by the slot of their SIM.
import type { Counter } from 'prom-client';
import type { Fact } from '#shared/link/messages.ts';
import type { Instruments } from '#shared/process/instruments.ts';
import type { CallEnded } from '#shared/voice/call.ts';

/** The label of a SIM that is no longer in a slot. */
const NO_SLOT = 'none';

export class FactMetrics {
  readonly #received: Counter<'slot' | 'result'>;
  readonly #sent: Counter<'slot' | 'result'>;
  readonly #reports: Counter<'slot' | 'status'>;
  readonly #calls: Counter<'slot' | 'direction' | 'reason'>;
  readonly #callSeconds: Counter<'slot' | 'direction'>;
  readonly #audioFrames: Counter<'slot' | 'outcome'>;
  readonly #audioGaps: Counter<'slot' | 'kind'>;

  constructor(instruments: Instruments) {
    this.#received = instruments.counter(
      'sms_received',
      'Received SMS: whole, partial (parts never arrived) or unreadable; slot is none for a SIM that was removed',
      ['slot', 'result'],
    );
    this.#sent = instruments.counter('sms_sent', 'SMS to send, by outcome: accepted, rejected, unknown', [
      'slot',
      'result',
    ]);
    this.#reports = instruments.counter(
      'sms_delivery_reports',
      'Delivery reports of carriers: delivered, pending, failed, expired',
      ['slot', 'status'],
    );
    this.#calls = instruments.counter('calls', 'Ended calls, by reason', ['slot', 'direction', 'reason']);
    this.#callSeconds = instruments.counter('call_seconds', 'Total duration of answered calls, in seconds', [
      'slot',
      'direction',
    ]);
    this.#audioFrames = instruments.counter(
      'audio_frames',
      'Audio frames of 20 ms of ended calls: captured, played, late, dropped, lost',
      ['slot', 'outcome'],
    );
    this.#audioGaps = instruments.counter(
      'audio_gaps',
      'Gaps in the audio of ended calls: capture (the modem gave no audio), xrun (sound card buffer ran empty or full)',
      ['slot', 'kind'],
    );
  }

  /** Counts a fact of the SIM in this slot. */
  fact(fact: Fact, slot = NO_SLOT): void {
    switch (fact.kind) {
      case 'sms_received':
        this.#received.inc({ slot, result: fact.partial ? 'partial' : 'whole' });
        return;
      case 'sms_unreadable':
        this.#received.inc({ slot, result: 'unreadable' });
        return;
      case 'sms_outcome':
        this.#sent.inc({ slot, result: fact.outcome.status });
        return;
      case 'sms_report':
        this.#reports.inc({ slot, status: fact.status });
        return;
      case 'call_ended':
        this.#callEnded(fact, slot);
        return;
    }
  }

  #callEnded(call: CallEnded, slot: string): void {
    const { direction, reason, answered_at: answeredAt, ended_at: endedAt, audio } = call;
    this.#calls.inc({ slot, direction, reason });
    if (answeredAt !== null) {
      const seconds = Math.max(0, Date.parse(endedAt) - Date.parse(answeredAt)) / 1_000;
      this.#callSeconds.inc({ slot, direction }, seconds);
    }
    if (audio === null) return;
    for (const [name, count] of Object.entries(audio)) {
      if (name.endsWith('_frames'))
        this.#audioFrames.inc({ slot, outcome: name.replace(/_frames$/, '') }, count);
    }
    this.#audioGaps.inc({ slot, kind: 'capture' }, audio.capture_gaps);
    this.#audioGaps.inc({ slot, kind: 'xrun' }, audio.xruns);
  }
}
