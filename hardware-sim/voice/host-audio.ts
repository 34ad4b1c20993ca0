// The voice of one modem during a call: every 20 ms of its clock one frame to the host and one from it.
import type { Random } from '#shared/random.ts';
import type { ModemSettings } from '../at/settings.ts';
import { bytesOf, FRAME_MS, frameSamplesOf, peakOf, type SampleRateHz, samplesOf } from '../audio/frame.ts';
import type { FrameClock, Ticker } from '../audio/frame-clock.ts';
import { Decimator, Interpolator } from '../audio/half-band.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import { HostInlet, HostOutlet, type OutletDevice } from './host-buffers.ts';
import { nmeaSentence } from './idle-sentences.ts';
import type { MakeAudio } from './make-voice.ts';
import type { ModemCall } from './modem-call.ts';

/** The serial port, or the sound card. */
export interface HostDevice extends OutletDevice {
  /** Takes at most `bytesMax` octets that the host has written; `undefined` for a port that brings them by itself. */
  read?(bytesMax: number): Buffer;
}

/** Route of the voice. */
export type VoiceRoute = 'serial' | 'usb';

export interface HostAudioOptions {
  frameClock: FrameClock;
  random: Random;
  faults: FaultSet;
  make: MakeAudio;
  settings: () => ModemSettings;
  rateHz: () => SampleRateHz;
  device: (route: VoiceRoute) => HostDevice | undefined;
  sendUrc: (line: string) => void;
}

/** Silent until there is a call. */
export class HostAudio implements Ticker {
  readonly #options: HostAudioOptions;
  readonly #inlet: HostInlet;
  #outlet: HostOutlet | undefined;
  #route: VoiceRoute | undefined;
  #call: ModemCall | undefined;
  #nominalMs = 0;
  #dueMs = 0;
  #ticks = 0;
  #hasHostBegun = false;
  #isHostPaused = false;
  /** Calls since the modem started. */
  #callCount = 0;
  #refusedInCall = 0;
  #up = new Interpolator();
  #down = new Decimator();

  constructor(options: HostAudioOptions) {
    this.#options = options;
    this.#inlet = new HostInlet(options.make.bufferBytes);
    this.#setRoute(options.make.isAlwaysOn ? 'serial' : undefined);
  }

  get dueMs(): number {
    return this.#dueMs;
  }

  get route(): VoiceRoute | undefined {
    return this.#route;
  }

  /** Switched on or off by a command. False when the modem refuses. */
  switchTo(route: VoiceRoute | undefined): boolean {
    if (route !== undefined && this.#isRefused()) return false;
    this.#setRoute(route);
    return true;
  }

  /** The active call changed. The host must switch its voice on again. */
  follow(call: ModemCall | undefined): void {
    const { frameClock, make } = this.#options;
    if (this.#call !== undefined) frameClock.remove(this);
    const isEnd = call === undefined;
    this.#call = call;
    if (isEnd) {
      this.#setRoute(make.isAlwaysOn ? 'serial' : undefined);
      return;
    }
    this.#callCount += 1;
    this.#refusedInCall = 0;
    this.#setRoute(this.#route);
    this.#nominalMs = frameClock.now();
    this.#schedule();
    frameClock.add(this);
  }

  /** The modem restarts. */
  restart(): void {
    this.#callCount = 0;
    this.#setRoute(this.#options.make.isAlwaysOn ? 'serial' : undefined);
  }

  /** Octets that the host wrote to the serial port. */
  hear(bytes: Buffer): void {
    if (this.#route !== 'serial') return;
    if (this.#call !== undefined) this.#takeIn(bytes, this.#call);
    else if (this.#options.make.isLooped?.(this.#options.settings()) === true) {
      this.#outlet?.give(this.#withNoise(bytes));
    }
  }

  tick(): void {
    const call = this.#call;
    if (call?.network === undefined) return;
    this.#ticks += 1;
    const isSilent = this.#isSilentCall;
    const { faults, settings } = this.#options;
    const oneWay = faults.get('one_way_audio')?.silent;
    const isMuted = settings().kept.get('+CMUT') === '1';
    const said = this.#fromHost(call);
    if (isSilent || isMuted || oneWay === 'from_host') said.fill(0);
    const heard = call.network.exchange(call.side, said);
    if (isSilent || oneWay === 'to_host') heard.fill(0);
    this.#toHost(call, heard);
    this.#schedule();
  }

  skip(): void {
    if (this.#call !== undefined) this.#call.audio.counters.frames_skipped += 1;
    this.#schedule();
  }

  get #rateHz(): SampleRateHz {
    return this.#options.faults.get('wrong_rate')?.sample_rate_hz ?? this.#options.rateHz();
  }

  get #isSilentCall(): boolean {
    return this.#callCount > 1 && this.#options.faults.has('second_call_silent');
  }

  #setRoute(route: VoiceRoute | undefined): void {
    const { device } = this.#options;
    this.#route = route;
    this.#outlet = route === undefined ? undefined : new HostOutlet(() => device(route));
    this.#inlet.clear();
    this.#hasHostBegun = false;
    this.#isHostPaused = false;
    if (this.#call === undefined) return;
    this.#call.audio.route = route ?? null;
    this.#call.audio.sampleRateHz = this.#rateHz;
  }

  #isRefused(): boolean {
    if (this.#options.faults.take('pcm_refused') !== undefined) return true;
    if (!this.#isSilentCall || this.#call === undefined) return false;
    this.#refusedInCall += 1;
    return this.#refusedInCall === 1;
  }

  /** Schedules the next frame. Each deadline counts from the one before, not from when its frame was played. */
  #schedule(): void {
    const { faults, random } = this.#options;
    const ppm = faults.get('pcm_drift')?.ppm ?? 0;
    this.#nominalMs += FRAME_MS / (1 + ppm / 1e6);
    const jitterMs = faults.get('pcm_jitter')?.ms ?? 0;
    this.#dueMs = this.#nominalMs + random() * jitterMs;
  }

  /** A frame of the network. */
  #fromHost(call: ModemCall): Int16Array {
    const rateHz = this.#rateHz;
    const bytes = frameSamplesOf(rateHz) * 2;
    this.#readDevice(call, bytes);
    const taken = this.#route === undefined ? undefined : this.#inlet.take(bytes);
    this.#reportRoom();
    const samples = taken === undefined ? new Int16Array(bytes / 2) : samplesOf(taken.bytes);
    if (taken !== undefined) {
      const atMs = this.#options.frameClock.now();
      call.audio.onTaken({ atMs, arrivedAtMs: taken.arrivedAtMs }, peakOf(samples));
    } else if (this.#hasHostBegun) call.audio.counters.underruns += 1;
    return rateHz === 8000 ? this.#up.process(samples) : samples;
  }

  #readDevice(call: ModemCall, bytes: number): void {
    const { faults, device } = this.#options;
    if (this.#route === undefined || faults.get('pcm_stall')?.direction === 'from_host') return;
    const read = device(this.#route)?.read?.(bytes);
    if (read !== undefined && read.length > 0) this.#takeIn(read, call);
  }

  #takeIn(bytes: Buffer, call: ModemCall): void {
    const { faults, frameClock } = this.#options;
    this.#hasHostBegun = true;
    const isShifted = faults.get('pcm_byte_shift')?.direction === 'from_host';
    if (isShifted) faults.take('pcm_byte_shift');
    const kept = isShifted ? bytes.subarray(1) : bytes;
    call.audio.counters.bytes_dropped += this.#inlet.push(kept, frameClock.now());
    this.#reportFull();
  }

  #reportFull(): void {
    const { make, sendUrc } = this.#options;
    if (make.flowControl === undefined || this.#isHostPaused || this.#route !== 'serial') return;
    if (this.#inlet.length < make.flowControl.fullBytes) return;
    this.#isHostPaused = true;
    sendUrc(make.flowControl.fullLine);
  }

  #reportRoom(): void {
    const { make, sendUrc } = this.#options;
    if (make.flowControl === undefined || !this.#isHostPaused) return;
    if (this.#inlet.length > make.flowControl.roomBytes) return;
    this.#isHostPaused = false;
    sendUrc(make.flowControl.roomLine);
  }

  #toHost(call: ModemCall, heard: Int16Array): void {
    const { faults, frameClock } = this.#options;
    if (this.#outlet === undefined || faults.get('pcm_stall')?.direction === 'to_host') return;
    const samples = this.#rateHz === 8000 ? this.#down.process(heard) : heard;
    const isRead = this.#outlet.give(this.#withNoise(bytesOf(samples)));
    if (!isRead) call.audio.counters.frames_not_read += 1;
    call.audio.onSent(frameClock.now(), peakOf(samples));
  }

  #withNoise(frame: Buffer): Buffer {
    const { faults, make, settings } = this.#options;
    const isShifted = faults.get('pcm_byte_shift')?.direction === 'to_host';
    if (isShifted) faults.take('pcm_byte_shift');
    const kept = isShifted ? frame.subarray(1) : frame;
    const nmea = faults.get('nmea_in_pcm');
    if (nmea === undefined || !make.mixesNmea(settings())) return kept;
    if (this.#ticks % Math.max(1, Math.round(nmea.every_ms / FRAME_MS)) !== 0) return kept;
    return Buffer.concat([Buffer.from(nmeaSentence(this.#options.frameClock.now()), 'latin1'), kept]);
  }
}
