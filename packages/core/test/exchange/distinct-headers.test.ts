import { describe, expect, it } from 'vitest'
import { distinctHeaders } from '../../src/exchange/distinct-headers.ts'

const read = (...raw: string[]) => [...distinctHeaders(raw)]

describe('the headers of a message', () => {
  it('are in lower case, in order, and repeated ones are kept apart', () => {
    expect(read('X-A', '1', 'Host', 'h', 'x-a', '2, 3')).toEqual([
      ['x-a', ['1', '2, 3']],
      ['host', ['h']],
    ])
  })

  it('may have the names of object members, except __proto__', () => {
    expect(read('constructor', 'c', '__proto__', 'a', 'toString', 't', '__proto__', 'b')).toEqual([
      ['constructor', ['c']],
      ['tostring', ['t']],
    ])
  })
})
