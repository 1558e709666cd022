/** Reads files for the pure layers. Errors have Node's `code` (`ENOENT`, `EACCES`, …). */
export interface Files {
  /** @throws {Error} With a `code`. */
  read(path: string): Promise<string>
  /** Calls back when the file is written, replaced or removed. Returns a function that stops watching. */
  watch(path: string, onChange: () => void): () => void
}
