// Reads the body of a response that another party writes: never more than a limit.

/** `isWhole`: the body has at most `bytesMax` bytes. A longer one is read no further. */
export async function startOfBody(
  response: Response,
  bytesMax: number,
): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > bytesMax) break;
  }
  const start = Buffer.concat(chunks).subarray(0, bytesMax);
  return { text: start.toString('utf8'), isWhole: length <= bytesMax };
}
