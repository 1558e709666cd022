/** Reads files for the pure layers. Errors carry Node's `code` (`ENOENT`, `EACCES`, …). */
export interface Files {
  /** @throws An error with `code`. */
  read(path: string): Promise<string>
  /** Calls back when the file was written, replaced or removed. Returns how to stop. */
  watch(path: string, onChange: () => void): () => void
}
