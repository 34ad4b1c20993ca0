// Reads the body of a response that another party writes, up to a limit.

/** `isWhole`: the body has at most `bytesMax` bytes. A longer one is read no further. UTF-8. */
export async function startOfBody(
  { body }: Response,
  bytesMax: number,
): Promise<{ text: string; isWhole: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  let left = bytesMax;
  for await (const chunk of body ?? []) {
    const bytes = chunk as Uint8Array;
    text += decoder.decode(bytes.subarray(0, left), { stream: true });
    left -= bytes.byteLength;
    if (left < 0) break;
  }
  return { text: text + decoder.decode(), isWhole: left >= 0 };
}
