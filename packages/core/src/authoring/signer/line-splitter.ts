/** No request is longer: a digest, a message and the configuration of one user. */
const LONGEST_LINE = 1024 * 1024

/** Cuts a stream of bytes into lines of text. */
export class LineSplitter {
  #pieces: Buffer[] = []
  #length = 0

  /**
   * Takes the next bytes and gives the lines that they complete, without their ends. Empty ones are left out.
   *
   * @throws {RangeError} When a line has no end within a mebibyte.
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = []
    let from = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      this.#keep(chunk.subarray(from, end))
      lines.push(this.rest())
      from = end + 1
    }
    this.#keep(chunk.subarray(from))
    return lines.filter((text) => text.trim() !== '')
  }

  /** What came after the last line. */
  rest(): string {
    const text = Buffer.concat(this.#pieces).toString('utf8')
    this.#pieces = []
    this.#length = 0
    return text
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > LONGEST_LINE) throw new RangeError('a line is longer than a mebibyte')
    this.#pieces.push(piece)
  }
}
