/**
 * Reads a body until it ends or is longer than a limit: a server may send one without end.
 *
 * @returns More than `maxBytes` bytes only if the body is longer than that.
 */
export async function readBodyStart({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break
  }
  return Buffer.concat(chunks)
}
