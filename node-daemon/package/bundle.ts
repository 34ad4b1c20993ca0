// The daemon's parts that its package has beside the bundled sources: the serial port's binding, the resampler, the status page.
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { bundle, PROJECT, type ProgramParts } from '#shared/packaging/bundle.ts';

const NATIVE_BINDING = 'serial-port.node';
const WASM = 'speex-resampler-nonsimd.wasm';
/** Files that the status page reads from its own folder. */
const PAGE_FILES = ['status-page.css', 'status-page.js'];
const { resolve } = createRequire(import.meta.url);

/** Writes the bundle into `folder`. `prebuild`: file of the binding. Resolves with the folders of the packages that are in it. */
export function bundleDaemon(
  folder: string,
  { prebuild, version }: { prebuild: string; version: string },
): Promise<string[]> {
  const bindings = dirname(dirname(resolve('@serialport/bindings-cpp')));
  const resampler = dirname(resolve('@echogarden/speex-resampler-wasm'));
  return bundle(folder, version, {
    entryPoints: { main: 'node-daemon/main.ts' },
    external: [`./${NATIVE_BINDING}`],
    plugins: [nativeBinding],
    copied: [
      [relative(PROJECT, join(bindings, 'prebuilds', prebuild)), NATIVE_BINDING],
      [relative(PROJECT, join(resampler, WASM)), WASM],
      ...PAGE_FILES.map((name) => [`node-daemon/status-page/${name}`, name] as const),
    ],
  });
}

const nativeBinding: NonNullable<ProgramParts['plugins']>[number] = {
  name: 'native binding',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node-gyp-build$/ }, () => ({ path: NATIVE_BINDING, namespace: 'native' }));
    onLoad({ filter: /.*/, namespace: 'native' }, () => ({
      contents: `module.exports = () => require('./${NATIVE_BINDING}');`,
    }));
  },
};
