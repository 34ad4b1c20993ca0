// The ports of one modem while it is plugged in: two for commands, one for voice samples, and others of its make.
import { join } from 'node:path';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { CommandPort, type CommandPortOptions } from '../at/command-port.ts';
import { PtyPort } from '../pty/pty-port.ts';
import type { SerialRole } from '../usb/usb-description.ts';

const AT_PORTS = ['at', 'at2'] as const;
type AtPort = (typeof AT_PORTS)[number];
/** Voice samples. */
const PCM_PORT = 'pcm';

/**
 * Serial programs request exclusive use (TIOCEXCL). On a pseudo-terminal it survives the program. The port clears
 * it at the next write of a client, and this check clears it after a client that wrote nothing.
 */
const EXCLUSIVE_USE_CHECK_MS = 1000;

/** A terminal of the modem: its role, and the link under its kernel name. */
interface SerialPort {
  role: SerialRole;
  ttyPath: string;
}

/** Absolute paths of the links. */
export type PortPaths = Record<AtPort | typeof PCM_PORT, string>;

interface ModemPortsOptions {
  /** Folder of the links that are named after the slot. */
  linkFolder: string;
  /** Real time: terminals do not follow a clock that is moved by hand. */
  clock: Clock;
  log: Logger;
  /** A deaf modem answers nothing. */
  isDeaf: () => boolean;
  /** Bytes for a deaf modem. */
  onUnheard: (bytes: Buffer) => void;
  /** Voice samples of the host. */
  onVoice: (bytes: Buffer) => void;
  dialogue: Omit<CommandPortOptions, 'write' | 'clock'>;
}

/** Open or closed, all together. */
export class ModemPorts {
  readonly #options: ModemPortsOptions;
  #ptys: { role: SerialRole; pty: PtyPort }[] = [];
  #exclusiveUseCheck: Timer | undefined;
  readonly #commandPorts = new Map<AtPort, CommandPort>();

  constructor(options: ModemPortsOptions) {
    this.#options = options;
  }

  get areOpen(): boolean {
    return this.#ptys.length > 0;
  }

  /** Where the links of a modem are, by the first part of their names. */
  pathsOf(linkName: string): PortPaths {
    const path = (port: string): string => join(this.#options.linkFolder, `${linkName}-${port}`);
    return { at: path('at'), at2: path('at2'), pcm: path(PCM_PORT) };
  }

  /** Opens all ports or none. Throws `PtyError` or a file system error. */
  open(linkName: string, serialPorts: readonly SerialPort[]): void {
    const slotLinks: Partial<Record<SerialRole, string>> = this.pathsOf(linkName);
    try {
      for (const { role, ttyPath } of serialPorts) {
        const slotLink = slotLinks[role];
        this.#openPty(role, slotLink === undefined ? [ttyPath] : [ttyPath, slotLink]);
      }
    } catch (cause) {
      this.close();
      throw cause;
    }
    this.startDialogues();
    this.#checkExclusiveUse();
  }

  /** Hangs up all clients and removes the links. Idempotent. */
  close(): void {
    this.#exclusiveUseCheck?.cancel();
    this.#endDialogues();
    for (const { pty } of this.#ptys) pty.close();
    this.#ptys = [];
  }

  /** Restarts the dialogues on open ports: settings are the defaults, and half a command is dropped. */
  startDialogues(): void {
    const { clock } = this.#options;
    this.#endDialogues();
    for (const name of AT_PORTS) {
      const pty = this.#ptys.find(({ role }) => role === name)?.pty;
      if (pty === undefined) continue;
      const write = (bytes: Buffer): void => {
        if (!this.#options.isDeaf()) pty.write(bytes);
      };
      this.#commandPorts.set(name, new CommandPort({ ...this.#options.dialogue, write, clock }));
    }
  }

  /** As `CommandPort.sendUrc`. */
  sendUrc(port: AtPort, line: string, isUrgent: boolean): void {
    if (!this.#options.isDeaf()) this.#commandPorts.get(port)?.sendUrc(line, isUrgent);
  }

  /** Both ports echo, or do not, whatever ATE said. */
  setEcho(isOn: boolean): void {
    for (const port of this.#commandPorts.values()) port.settings.echo = isOn;
  }

  /** Switches reading on or off. While it is off, the terminals fill up. */
  setReading(isReading: boolean, isVoiceRead: boolean): void {
    for (const { role, pty } of this.#ptys) pty.setReading(isReading && (role !== PCM_PORT || isVoiceRead));
  }

  /** Port of the voice samples, while it exists. */
  get voicePort(): PtyPort | undefined {
    return this.#ptys.find(({ role }) => role === PCM_PORT)?.pty;
  }

  #checkExclusiveUse(): void {
    for (const { pty } of this.#ptys) pty.endExclusiveUse();
    this.#exclusiveUseCheck = this.#options.clock.after(EXCLUSIVE_USE_CHECK_MS, () =>
      this.#checkExclusiveUse(),
    );
  }

  #endDialogues(): void {
    for (const port of this.#commandPorts.values()) port.close();
    this.#commandPorts.clear();
  }

  #openPty(role: SerialRole, linkPaths: readonly string[]): void {
    const { clock, log } = this.#options;
    const onBytes = (bytes: Buffer): void => this.#onBytes(role, bytes);
    this.#ptys.push({ role, pty: new PtyPort({ linkPaths, clock, log, onBytes }) });
  }

  /** Ports that take neither commands nor voice swallow everything. */
  #onBytes(role: SerialRole, bytes: Buffer): void {
    if (role === PCM_PORT) this.#options.onVoice(bytes);
    if (role !== 'at' && role !== 'at2') return;
    if (this.#options.isDeaf()) this.#options.onUnheard(bytes);
    else this.#commandPorts.get(role)?.receive(bytes);
  }
}
