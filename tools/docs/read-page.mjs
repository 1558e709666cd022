// Reads a Markdown page into the parts that are checked. Every part has the line it begins in, counted from 1.

/**
 * Comments in front of a block say how it is checked:
 *
 * - `<!-- not checked: REASON -->` leaves it out.
 * - `<!-- given: NAME, NAME -->` declares names that the code uses and the page does not explain.
 * - `<!-- continued -->` joins code with the block above, although it has imports.
 */
const MARKS = /(?:<!-- (?:not checked: [^\n]+|given: [^\n]+|continued) -->\s*)+$/
const FENCED = /^([ \t]*)(`{3,}|~{3,})[ \t]*(\w*)[^\n]*\n([\s\S]*?)^[ \t]*\2[`~]*[ \t]*$/gm

/**
 * Returns `{ path, blocks, prose }`.
 *
 * `blocks` are the fenced ones that are checked: `{ line, language, text, isContinued, given }`. `prose` has all lines,
 * empty where a block is.
 */
export function readPage(path, text) {
  const blocks = []
  const prose = text.replace(FENCED, (whole, indent, _fence, language, body, at) => {
    const before = text.slice(0, at)
    const [marks = ''] = MARKS.exec(before) ?? []
    const isChecked = !marks.includes('<!-- not checked')
    if (isChecked) {
      blocks.push({
        line: before.split('\n').length + 1,
        language,
        text: body.replace(new RegExp(`^${indent}`, 'gm'), '').replace(/\n$/, ''),
        isContinued: marks.includes('<!-- continued'),
        given: /<!-- given: (.+?) -->/.exec(marks)?.[1].split(/,\s*/) ?? [],
      })
    }
    return whole.replace(/[^\n]/g, '')
  })
  return { path, blocks, prose: prose.split('\n') }
}
