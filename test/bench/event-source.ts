// A reader of server-sent events (WHATWG HTML §9.2), as far as the simulator sends them.

interface SentEvent {
  event: string;
  data: Record<string, unknown>;
}

/** Resolves when the stream is open; calls `onEvent` for each event until `close`. */
export async function eventsOf(url: string, onEvent: (event: SentEvent) => void): Promise<{ close(): void }> {
  const abort = new AbortController();
  const response = await fetch(url, { signal: abort.signal });
  if (!response.ok || response.body === null) throw new Error(`${url}: ${response.status}`);
  void read(response.body, onEvent).catch(() => undefined);
  return { close: () => abort.abort() };
}

async function read(body: ReadableStream<Uint8Array>, onEvent: (event: SentEvent) => void): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event !== undefined && data !== undefined) onEvent({ event, data: JSON.parse(data) });
    }
  }
}
