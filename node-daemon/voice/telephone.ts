// One SIM's telephone for the control plane: a line with its call, the audio of the call, and the audio's media link.
import { type Clock, sleep } from '#shared/clock.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { Logger } from '#shared/log.ts';
import type { AudioStatistics, DialOutcome, LiveCall } from '#shared/voice/call.ts';
import { MEDIA_CLOSE } from '#shared/voice/close-code.ts';
import { callCloseCode, type EndReason } from '#shared/voice/release-cause.ts';
import type { CreateResampler } from '#shared/voice/resample.ts';
import type { AtChannel } from '../at/channel.ts';
import type { Rate } from '../audio/frame-cutter.ts';
import { ModemAudio } from '../audio/modem-audio.ts';
import type { OpenPcm } from '../audio/pcm-device.ts';
import type { CardAudio, MakeVoice, SerialAudio } from '../profiles/profile.ts';
import { AudioSwitch } from './audio-switch.ts';
import { type CallEnd, LineControl } from './line-control.ts';
import type { LineCall } from './state/line-state.ts';

/** A card or port may be ready only some time after audio was turned on. */
const OPEN_ATTEMPTS = 10;
const OPEN_RETRY_MS = 300;
/** Frames of one second. Audio that is lost before counts as a failed attempt, because a refused card or port may open first. */
const STEADY_FRAMES = 50;
const TOO_MANY_LOG_MS = 60_000;

/** The node's end of a link with the audio of a call. */
export interface MediaEnd {
  sendCapture(frame: { audio: Int16Array; played: number; granted: number }): boolean;
  sendDigit(digit: string): void;
  close(code: number, reason?: string): void;
}

/** The events of the media link. */
export interface MediaEvents {
  onPlayout(audio: Int16Array, isLive: boolean): void;
  onClear(): { played: number; dropped: number };
  onDigits(digits: string): void;
  onEnd(): void;
}

/** Opens the audio of a modem. */
export interface AudioAccess {
  readonly audio: SerialAudio | CardAudio;
  readonly open: OpenPcm;
}

/** The registry of the calls of all telephones of a host. */
export interface CallObserver {
  /** Returns an id for an incoming call. */
  newId(): string;
  /** Called when a call begins or its state changes. */
  note(live: LiveCall, telephone: Telephone): void;
  end(callId: string, end: CallEnd, audio: AudioStatistics | null): void;
}

/** The parts that the telephone of a slot uses besides its modem. */
export interface Telephony {
  readonly calls: CallObserver;
  readonly createResampler: CreateResampler;
  /** The way to the audio of the modem. */
  readonly audioAccess: (voice: MakeVoice) => AudioAccess | undefined;
}

interface TelephoneParts {
  readonly iccid: string;
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly voice: MakeVoice;
  readonly isRegistered: () => boolean;
  /** Undefined if the modem's audio is unknown. Calls are then silent. */
  readonly access: AudioAccess | undefined;
  readonly createResampler: CreateResampler;
  readonly calls: CallObserver;
  /** Counts an incoming call. Returns false if there were too many: the modem may invent them. */
  readonly takesCall: () => boolean;
  /** Called after a call if the modem's audio works again only after a restart. The next call may have begun. */
  readonly onAudioDegraded: () => void;
}

interface Ongoing {
  readonly id: string;
  live: LiveCall;
  audio: ModemAudio | undefined;
  opening: Promise<void> | undefined;
  /** Failed attempts in a row to open the audio. */
  openFailures: number;
  media: MediaEnd | undefined;
  /** Frames that the current audio had played when the current link began. Negative: frames of the link that earlier audio played. */
  playedBefore: number;
  /** Statistics of audio that was lost during the call. */
  past: AudioStatistics | null;
}

export class Telephone {
  readonly #parts: TelephoneParts;
  readonly #line: LineControl;
  #ongoing: Ongoing | undefined;
  #dialledId: string | undefined;
  #isDegraded = false;
  /** Whether the current call is one too many: the daemon reports nothing of it. */
  #isUnreported = false;
  #tooManyLoggedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: TelephoneParts) {
    this.#parts = parts;
    const audio = parts.access?.audio ?? parts.voice.serial;
    this.#line = new LineControl({
      ...parts,
      audioSwitch: new AudioSwitch({ ...parts, audio, onDegraded: () => this.#onDegraded() }),
      observer: {
        onCall: (call) => this.#onCall(call),
        onEnd: (end) => void this.#onEnd(end),
        onDigit: (digit) => this.#ongoing?.media?.sendDigit(digit),
        onAudioFlow: (isPaused) => this.#ongoing?.audio?.setPaused(isPaused),
      },
    });
  }

  /** Whether the audio of the call has a listener. */
  get hasMedia(): boolean {
    return this.#ongoing?.media !== undefined;
  }

  get isBusy(): boolean {
    return this.#line.isBusy;
  }

  /** As `endLeftCalls`. */
  clear(): Promise<boolean> {
    return this.#line.clear();
  }

  /** As `LineControl.dial`. */
  async dial(callId: string, to: string): Promise<DialOutcome> {
    if (this.#line.isBusy) throw new CommandRefusal('line_busy', 'The line has a call.');
    this.#dialledId = callId;
    return this.#line.dial(to);
  }

  answer(): Promise<void> {
    return this.#line.answer();
  }

  hangUp(reason: EndReason): Promise<void> {
    const isRinging = this.#ongoing?.live.direction === 'inbound' && this.#ongoing.live.state === 'ringing';
    return this.#line.hangUp(isRinging && reason === 'local_hangup' ? 'rejected' : reason);
  }

  /** Connects the audio of a call to a new link, in place of the current one. Rejects if the link cannot be opened. */
  async attach(callId: string, open: (events: MediaEvents) => Promise<MediaEnd>): Promise<void> {
    const ongoing = this.#ongoing;
    if (ongoing?.id !== callId)
      throw new CommandRefusal('call_unknown', 'The call does not exist or has ended.');
    const media = await open({
      onPlayout: (audio, isLive) => {
        // Frames sent before the audio was lost count as played. Otherwise the link would wait for them forever.
        if (ongoing.audio === undefined) ongoing.playedBefore -= 1;
        else ongoing.audio.play(audio, isLive);
      },
      onClear: () => {
        const { played, dropped } = ongoing.audio?.clear() ?? { played: 0, dropped: 0 };
        return { played: played - ongoing.playedBefore, dropped };
      },
      onDigits: (digits) => {
        if (!this.#line.press(digits))
          this.#parts.log.warn({}, 'keys not pressed: too many are waiting, or the call is not answered');
      },
      onEnd: () => {
        if (ongoing.media !== media) return;
        ongoing.media = undefined;
        this.#reportMedia(ongoing);
      },
    });
    if (this.#ongoing !== ongoing) {
      media.close(1000, 'the call has ended');
      throw new CommandRefusal('call_unknown', 'The call has ended.');
    }
    ongoing.media?.close(MEDIA_CLOSE.replaced, 'another link took over');
    ongoing.playedBefore = ongoing.audio?.clear().played ?? 0;
    ongoing.media = media;
    this.#reportMedia(ongoing);
  }

  /** Refuses further calls. The current one goes on. */
  refuseCalls(): void {
    this.#line.refuseCalls();
  }

  /** Call it at the end of the session. */
  close(): void {
    this.#line.close();
  }

  #onCall({ direction, peer = null, state }: LineCall): void {
    const { calls, clock, iccid } = this.#parts;
    const now = new Date(clock.now()).toISOString();
    if (direction === 'inbound' && this.#ongoing === undefined) this.#isUnreported ||= this.#isTooMany();
    if (this.#isUnreported) return;
    const known = this.#ongoing?.live;
    const id = known?.call_id ?? (direction === 'outbound' ? this.#dialledId : undefined) ?? calls.newId();
    const live: LiveCall = {
      call_id: id,
      iccid,
      direction,
      state,
      peer,
      started_at: known?.started_at ?? now,
      answered_at: known?.answered_at ?? (state === 'active' ? now : null),
      has_media: known?.has_media,
    };
    if (this.#ongoing === undefined) {
      this.#ongoing = {
        id,
        live,
        audio: undefined,
        opening: undefined,
        openFailures: 0,
        media: undefined,
        playedBefore: 0,
        past: null,
      };
    } else this.#ongoing.live = live;
    if (direction === 'outbound' || state === 'active')
      this.#ongoing.opening ??= this.#openAudio(this.#ongoing);
    calls.note(live, this);
  }

  #isTooMany(): boolean {
    const { clock, log, takesCall } = this.#parts;
    if (takesCall()) return false;
    if (clock.now() - this.#tooManyLoggedAt >= TOO_MANY_LOG_MS) {
      this.#tooManyLoggedAt = clock.now();
      log.warn({}, 'incoming calls are not reported: there are more than any network delivers');
    }
    return true;
  }

  /** The control plane ends a call whose client is gone together with the instance that it was connected to. */
  #reportMedia(ongoing: Ongoing): void {
    if (this.#ongoing !== ongoing) return;
    ongoing.live = { ...ongoing.live, has_media: ongoing.media !== undefined };
    this.#parts.calls.note(ongoing.live, this);
  }

  async #onEnd(end: CallEnd): Promise<void> {
    const ongoing = this.#ongoing;
    this.#ongoing = undefined;
    this.#dialledId = undefined;
    this.#isUnreported = false;
    if (ongoing === undefined) return;
    const audio = sum(ongoing.past, ongoing.audio?.statistics);
    ongoing.media?.close(callCloseCode(end.cause), end.reason);
    this.#parts.calls.end(ongoing.id, end, audio);
    await ongoing.opening?.catch(() => undefined);
    await ongoing.audio?.close();
    if (this.#isDegraded) {
      this.#isDegraded = false;
      this.#parts.onAudioDegraded();
    }
  }

  #onDegraded(): void {
    this.#parts.log.warn({}, 'audio needed another attempt: restarting the modem after the call');
    this.#isDegraded = true;
  }

  async #openAudio(ongoing: Ongoing): Promise<void> {
    const { access, clock, createResampler, log, voice } = this.#parts;
    if (access === undefined) return;
    const { rateHz } = access.audio;
    while (this.#ongoing === ongoing && ongoing.openFailures < OPEN_ATTEMPTS) {
      try {
        const device = await access.open();
        const audio = new ModemAudio({
          device,
          clock,
          createResampler,
          rateHz: rateHz === 'measured' ? undefined : (rateHz as Rate),
          onDigit: voice.reportsKeys ? undefined : (digit) => ongoing.media?.sendDigit(digit),
          onFrame: ({ audio: heard, played, granted }) => {
            const before = ongoing.playedBefore;
            const frame = { audio: heard, played: played - before, granted: granted - before };
            return ongoing.media?.sendCapture(frame) ?? true;
          },
        });
        ongoing.audio = audio;
        device.onClose((error) => this.#onAudioLost(ongoing, audio, error));
        if (this.#ongoing !== ongoing) await audio.close();
        return;
      } catch (error) {
        ongoing.openFailures += 1;
        log.warn({ err: error, attempt: ongoing.openFailures }, 'failed to open call audio');
        await sleep(clock, OPEN_RETRY_MS);
      }
    }
    // A silent call is useless but costs money.
    if (this.#ongoing === ongoing) await this.#line.hangUp('modem_lost').catch(() => undefined);
  }

  /** Opens the card or port again after it was lost during a call, because the modem may still have the call. */
  #onAudioLost(ongoing: Ongoing, audio: ModemAudio, error: Error): void {
    if (this.#ongoing !== ongoing || ongoing.audio !== audio) return;
    const { clock, log } = this.#parts;
    log.warn({ err: error }, 'call audio was lost');
    // The next audio counts from 0, and the link continues.
    ongoing.playedBefore -= audio.clear().played;
    ongoing.past = sum(ongoing.past, audio.statistics);
    ongoing.audio = undefined;
    const wasSteady = audio.statistics.captured_frames >= STEADY_FRAMES;
    ongoing.openFailures = wasSteady ? 0 : ongoing.openFailures + 1;
    const reopen = async (): Promise<void> => {
      await audio.close();
      if (!wasSteady) await sleep(clock, OPEN_RETRY_MS);
      await this.#openAudio(ongoing);
    };
    ongoing.opening = reopen();
  }
}

function sum(past: AudioStatistics | null, last: AudioStatistics | undefined): AudioStatistics | null {
  if (past === null || last === undefined) return past ?? last ?? null;
  return {
    captured_frames: past.captured_frames + last.captured_frames,
    played_frames: past.played_frames + last.played_frames,
    late_frames: past.late_frames + last.late_frames,
    dropped_frames: past.dropped_frames + last.dropped_frames,
    lost_frames: past.lost_frames + last.lost_frames,
    capture_gaps: past.capture_gaps + last.capture_gaps,
    xruns: past.xruns + last.xruns,
  };
}
