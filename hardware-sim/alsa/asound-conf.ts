// The configuration with which alsa-lib finds the sound cards of the rack: `hw` and `plughw` lead to pipes.

/** Suffixes of a card's two pipes: the host records from one and plays into the other. */
export const CAPTURE = 'capture';
export const PLAYBACK = 'playback';

/**
 * A `file` plugin over `null` has no clock of its own: the pipes pace it. The null device accepts every sample
 * rate, so the rate of the samples is always the modem's.
 */
export function asoundConf(folder: string): string {
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
