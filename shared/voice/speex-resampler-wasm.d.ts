// The part of the package that is used; it comes without types. Pointers are byte offsets into the heap.
declare module '@echogarden/speex-resampler-wasm' {
  /** As in speex_resampler.h; the views change when the heap grows. */
  export interface SpeexResampler {
    readonly HEAP16: Int16Array;
    readonly HEAPU32: Uint32Array;
    /** 0 when there is no memory. */
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    /** 0 when there is no memory. `quality` is 0 to 10. */
    _speex_resampler_init(
      channels: number,
      inputHz: number,
      outputHz: number,
      quality: number,
      error: number,
    ): number;
    /** 16 bit samples; the lengths are pointers to uint32, read and written. 0 when all went well. */
    _speex_resampler_process_int(
      state: number,
      channel: number,
      input: number,
      inputLength: number,
      output: number,
      outputLength: number,
    ): number;
    _speex_resampler_destroy(state: number): void;
  }
  // biome-ignore lint/style/noDefaultExport: it is the package's
  export default function load(): Promise<SpeexResampler>;
}
