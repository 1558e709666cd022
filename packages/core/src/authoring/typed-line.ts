/** What a piece of typing led to. */
export type Typed =
  | { readonly is: 'line'; readonly text: string; readonly rest: string }
  | { readonly is: 'interrupt' | 'closed' | 'more' }

const MORE: Typed = { is: 'more' }

/**
 * Collects one line from a terminal that hands over every key as it is pressed.
 *
 * It does what the terminal does otherwise: backspace, Ctrl-U, Ctrl-W, Ctrl-C and Ctrl-D. Arrows and
 * other keys that type nothing are dropped; in a password they would be invisible mistakes. A terminal
 * that edits lines itself hands over whole ones, which pass through unchanged.
 */
export class TypedLine {
  #text = ''
  #escape = ''

  feed(typed: string): Typed {
    let at = 0
    for (const key of typed) {
      at += key.length
      if (this.#isInEscape(key)) continue
      if (key === '\r' || key === '\n' || (key === '\x04' && this.#text !== '')) {
        // Pasted text ends lines with both.
        const rest = typed.slice(key === '\r' && typed[at] === '\n' ? at + 1 : at)
        return { is: 'line', text: this.#text, rest }
      }
      if (key === '\x03') return { is: 'interrupt' }
      if (key === '\x04') return { is: 'closed' }
      this.#edit(key)
    }
    return MORE
  }

  #edit(key: string): void {
    if (key === '\x7f' || key === '\b') this.#text = [...this.#text].slice(0, -1).join('')
    else if (key === '\x15') this.#text = ''
    else if (key === '\x17') this.#text = this.#text.trimEnd().replace(/\S+$/, '')
    else if (key >= ' ' || key === '\t') this.#text += key
  }

  /** Keys like the arrows send ESC, a bracket or O, and end with a letter or `~`. */
  #isInEscape(key: string): boolean {
    if (key === '\x1b') {
      this.#escape = key
      return true
    }
    if (this.#escape === '') return false
    const isFirst = this.#escape === '\x1b'
    const goesOn = isFirst ? key === '[' || key === 'O' : /[0-9;?]/.test(key)
    // A lone ESC types nothing, and the key after it is one of its own.
    const isKeyOfItsOwn = isFirst && !goesOn
    this.#escape = goesOn ? this.#escape + key : ''
    return !isKeyOfItsOwn
  }
}
