// The configuration with which alsa-lib finds the sound cards of the rack: `hw` and `plughw` lead to pipes.

/** Of the pipes of a card, by its id or its number: what the host records and what it plays. */
export const CAPTURE = 'capture';
export const PLAYBACK = 'playback';

/**
 * A `file` plugin over `null` has no clock of its own: reading and writing the pipes is what paces it. The null
 * device takes every rate; that of the samples is the modem's.
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
