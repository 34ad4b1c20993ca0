// Speech from one sample rate to another, as it streams: the resampler of SpeexDSP, as WebAssembly.
import load, { type SpeexResampler } from '@echogarden/speex-resampler-wasm';

/**
 * Resampling quality, 0 to 10. At 4 the filter delays by 4 ms. At 3, the upper end of the telephone band
 * loses 1 dB.
 */
const QUALITY = 4;

/** Input of one step; longer input takes several. */
const INPUT_SAMPLES_MAX = 1_600;

export interface Resampler {
  /**
   * Resamples the next samples. The output length follows the ratio of the rates if it divides the input. The
   * caller owns the result.
   */
  process(samples: Int16Array): Int16Array;
  /** Frees the memory. The resampler must not be used afterwards. */
  close(): void;
}

/** Makes a resampler for one stream of mono audio. Throws when there is no memory for it. */
export type CreateResampler = (inputHz: number, outputHz: number) => Resampler;

let loaded: Promise<SpeexResampler> | undefined;

/** Loads the code, once for all resamplers of a process: some milliseconds. */
export async function loadResampler(): Promise<CreateResampler> {
  loaded ??= load();
  const speex = await loaded;
  return (inputHz, outputHz) => createResampler(speex, inputHz, outputHz);
}

function createResampler(speex: SpeexResampler, inputHz: number, outputHz: number): Resampler {
  const outputSamplesMax = Math.ceil((INPUT_SAMPLES_MAX * outputHz) / inputHz) + 1;
  // The two lengths, the input, the output.
  const memory = speex._malloc(8 + 2 * (INPUT_SAMPLES_MAX + outputSamplesMax));
  const state = memory === 0 ? 0 : speex._speex_resampler_init(1, inputHz, outputHz, QUALITY, memory);
  if (state === 0) throw new Error(`no resampler from ${inputHz} to ${outputHz} Hz`);
  const lengths = memory >> 2;
  const input = memory + 8;
  const output = input + 2 * INPUT_SAMPLES_MAX;

  function step(samples: Int16Array): Int16Array {
    speex.HEAP16.set(samples, input >> 1);
    speex.HEAPU32[lengths] = samples.length;
    speex.HEAPU32[lengths + 1] = outputSamplesMax;
    const code = speex._speex_resampler_process_int(state, 0, input, memory, output, memory + 4);
    if (code !== 0) throw new Error(`the resampler failed: ${code}`);
    const length = speex.HEAPU32[lengths + 1] ?? 0;
    return speex.HEAP16.slice(output >> 1, (output >> 1) + length);
  }

  return {
    process(samples) {
      if (samples.length <= INPUT_SAMPLES_MAX) return step(samples);
      const steps: Int16Array[] = [];
      for (let at = 0; at < samples.length; at += INPUT_SAMPLES_MAX)
        steps.push(step(samples.subarray(at, at + INPUT_SAMPLES_MAX)));
      const whole = new Int16Array(steps.reduce((length, each) => length + each.length, 0));
      let at = 0;
      for (const each of steps) {
        whole.set(each, at);
        at += each.length;
      }
      return whole;
    },
    close() {
      speex._speex_resampler_destroy(state);
      speex._free(memory);
    },
  };
}
