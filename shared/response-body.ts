// Reads the body of a response that another party writes, up to a limit.

/** `isWhole`: the body has at most `bytesMax` bytes. A longer one is read no further. UTF-8. */
export async function startOfBody(
  { body }: Response,
  bytesMax: number,
): Promise<{ text: string; isWhole: boolean }> {
  const decoder = new TextDecoder();
  // No `for await`: in some browsers a stream has no iterator.
  const reader = body?.getReader();
  let text = '';
  let left = bytesMax;
  while (reader !== undefined && left >= 0) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.byteLength;
  }
  if (left < 0) await reader?.cancel();
  return { text: text + decoder.decode(), isWhole: left >= 0 };
}
