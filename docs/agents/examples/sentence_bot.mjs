// A bot for `simrack bridge --command`: it says a sentence to the caller, and hangs up. Needs espeak-ng.
import { execFileSync } from 'node:child_process';

const RATE_HZ = 16_000;
const sentence = process.argv[2] ?? 'Hello. This is a bot of my own, on a real telephone number.';

// A WAV: 44 bytes of header, then 16 bit samples, mono. The rate is that of the voice.
const wav = execFileSync('espeak-ng', ['--stdout', sentence]);
const voiceHz = wav.readUInt32LE(24);
const voice = wav.subarray(44);

const speech = Buffer.alloc(2 * Math.floor(((voice.length / 2 - 1) * RATE_HZ) / voiceHz));
for (let at = 0; at < speech.length; at += 2) {
  const place = ((at / 2) * voiceHz) / RATE_HZ;
  const before = Math.floor(place);
  const [one, next] = [voice.readInt16LE(2 * before), voice.readInt16LE(2 * before + 2)];
  speech.writeInt16LE(Math.round(one + (next - one) * (place - before)), at);
}

// The audio of the far end comes on process.stdin, in the same format. This bot drops it.
process.stdin.resume();
process.stdout.write(speech, () => process.exit(0)); // the bridge hangs up when all of it was heard
