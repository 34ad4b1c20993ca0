// The sound cards of the rack: a pair of pipes for each, and the configuration that leads alsa-lib to them.
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeviceNumbers } from '../usb/usb-bus.ts';
import { endUsersOf, Pipe } from './pipe.ts';

/** The id of a Quectel modem's card. The kernel appends a number to the second and later ones. */
const CARD_ID = 'Android';

/** One sound card, from its construction until `remove`. */
export class SoundCard {
  readonly number: number;
  readonly id: string;
  readonly #capture: Pipe;
  readonly #playback: Pipe;
  readonly #links: readonly string[];
  readonly #onRemoved: () => void;

  constructor(folder: string, number: number, onRemoved: () => void) {
    this.number = number;
    this.id = number === 0 ? CARD_ID : `${CARD_ID}_${number}`;
    this.#onRemoved = onRemoved;
    const pipes: Pipe[] = [];
    const pipe = (kind: string): Pipe => {
      const made = new Pipe(join(folder, `${this.id}.${kind}`));
      pipes.push(made);
      return made;
    };
    try {
      this.#capture = pipe(CAPTURE);
      this.#playback = pipe(PLAYBACK);
      this.#links = [CAPTURE, PLAYBACK].map((kind) => {
        const link = join(folder, `${number}.${kind}`);
        rmSync(link, { force: true });
        symlinkSync(`${this.id}.${kind}`, link);
        return link;
      });
    } catch (cause) {
      for (const made of pipes) made.remove();
      throw cause;
    }
  }

  writeAll(bytes: Buffer): boolean {
    return this.#capture.writeAll(bytes);
  }

  unreadBytes(): number {
    return this.#capture.unreadBytes();
  }

  discardUnread(): void {
    this.#capture.read(this.unreadBytes());
  }

  /** Reads the octets that the host plays. */
  read(bytesMax: number): Buffer {
    return this.#playback.read(bytesMax);
  }

  /** Removes the card: programs that use it end, and others cannot open it. */
  remove(): void {
    endUsersOf([this.#capture.path, this.#playback.path]);
    for (const link of this.#links) rmSync(link, { force: true });
    this.#capture.remove();
    this.#playback.remove();
    this.#onRemoved();
  }
}

export class SoundCards {
  readonly #rackFolder: string;
  readonly #numbers = new DeviceNumbers();

  constructor(rackFolder: string) {
    this.#rackFolder = rackFolder;
  }

  get #folder(): string {
    return join(this.#rackFolder, 'alsa');
  }

  /** Writes `asound.conf`, and removes the pipes of an earlier run that was killed. */
  open(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#rackFolder, 'asound.conf'), asoundConf(realpathSync(this.#folder)));
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    rmSync(join(this.#rackFolder, 'asound.conf'), { force: true });
  }

  /** Adds a card with the lowest free number. Throws `PtyError` or a file system error. */
  add(): SoundCard {
    const [number = 0] = this.#numbers.take(1);
    const release = (): void => this.#numbers.release([number]);
    try {
      return new SoundCard(realpathSync(this.#folder), number, release);
    } catch (cause) {
      release();
      throw cause;
    }
  }
}

/** Suffixes of a card's two pipes: the host records from one and plays into the other. */
const CAPTURE = 'capture';
const PLAYBACK = 'playback';

/**
 * A `file` plugin over `null` has no clock of its own: the pipes pace it. The null device accepts every sample
 * rate, so the rate of the samples is always the modem's.
 */
function asoundConf(folder: string): string {
  return ['hw', 'plughw'].map((name) => definition(name, folder)).join('');
}

function definition(name: string, folder: string): string {
  const pipe = (kind: string): string => `{ @func concat strings [ "${folder}/" $CARD ".${kind}" ] }`;
  return `pcm.!${name} {
	@args [ CARD DEV SUBDEV ]
	@args.CARD { type string default "0" }
	@args.DEV { type integer default 0 }
	@args.SUBDEV { type integer default -1 }
	type asym
	playback.pcm {
		type file
		slave.pcm { type null }
		file ${pipe(PLAYBACK)}
		format "raw"
	}
	capture.pcm {
		type file
		slave.pcm { type null }
		file "/dev/null"
		infile ${pipe(CAPTURE)}
		format "raw"
	}
}
`;
}
