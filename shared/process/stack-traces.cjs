// Shows lines of the sources in stack traces. With --enable-source-maps, Node keeps the map of each file in memory. This reads a map when a
// trace is printed.
const { readFileSync } = require('node:fs');
const { SourceMap } = require('node:module');
const { fileURLToPath } = require('node:url');

/** Until the next turn of the event loop: the frames of a trace, and of its causes, are in the same files. */
const maps = new Map();

function mapOf(file) {
  if (maps.size === 0) setImmediate(() => maps.clear()).unref();
  if (!maps.has(file)) maps.set(file, readMap(file));
  return maps.get(file);
}

function readMap(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')));
  } catch {
    // A file of Node or of a package, or a package without maps.
    return undefined;
  }
}

/**
 * Places in the sources, by those in the build. Node reads the stack of each write that fails because its client has gone. To read a map
 * takes up to half a second: clients could keep the program busy.
 */
const places = new Map();
const PLACES_MAX = 1_000;

/** The frame with its place in the source. */
function sourceFrame(frame) {
  const file = frame.getFileName();
  const line = frame.getLineNumber();
  const column = frame.getColumnNumber();
  if (!file?.startsWith('file:') || line === null || column === null) return String(frame);
  const built = `${file}:${line}:${column}`;
  if (!places.has(built)) {
    if (places.size === PLACES_MAX) places.clear();
    places.set(built, sourcePlace(file, line, column) ?? built);
  }
  return String(frame).replace(built, places.get(built));
}

function sourcePlace(file, line, column) {
  const entry = mapOf(file)?.findEntry(line - 1, column - 1) ?? {};
  if (entry.originalSource === undefined) return undefined;
  const source = fileURLToPath(new URL(entry.originalSource, file));
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

/** Called by V8 when the stack of an error is first read. */
Error.prepareStackTrace = (error, frames) =>
  [headOf(error), ...frames.map((frame) => `    at ${sourceFrame(frame)}`)].join('\n');

function headOf(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
