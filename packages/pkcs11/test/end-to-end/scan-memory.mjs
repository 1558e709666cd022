// Searches the memory of a process for byte strings. argv is the process id; standard input maps names to byte strings in
// hexadecimal. Prints how many bytes it read, and the names of the byte strings that it found.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

const [pid] = process.argv.slice(2)
const wanted = Object.entries(JSON.parse(readFileSync(0, 'utf8')))
const patterns = wanted.map(([name, hex]) => [name, Buffer.from(hex, 'hex')])
const longest = Math.max(...patterns.map(([, bytes]) => bytes.length))
const memory = openSync(`/proc/${pid}/mem`, 'r')
const found = new Set()
const piece = Buffer.alloc(4 * 1024 * 1024)
let read = 0

for (const line of readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n')) {
  const [, from, to, rights] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? []
  // Pages of the kernel (vvar, vsyscall) cannot be read this way.
  if (rights === undefined || !rights.startsWith('r') || /\[v(?:var|sys)/.test(line)) continue
  look(Number.parseInt(from, 16), Number.parseInt(to, 16))
}
closeSync(memory)
process.stdout.write(JSON.stringify({ read, found: [...found] }))

function look(from, to) {
  let kept = 0
  for (let at = from; at < to; ) {
    let count = 0
    try {
      count = readSync(memory, piece, kept, Math.min(piece.length - kept, to - at), at)
    } catch {
      // A page that is not mapped.
      return
    }
    if (count === 0) return
    const seen = piece.subarray(0, kept + count)
    for (const [name, bytes] of patterns) if (seen.includes(bytes)) found.add(name)
    read += count
    at += count
    // Keep the end, to find byte strings that span two pieces.
    kept = Math.min(longest - 1, seen.length)
    piece.copyWithin(0, seen.length - kept, seen.length)
  }
}
